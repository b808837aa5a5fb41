import "./look/tokens.css";
import "./look/page.css";
import "./look/controls.css";
import "./look/table.css";
import "./look/shell.css";
import "./look/plots.css";
import "./look/palette.css";
import "./look/record-page.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { watchUpdates } from "./client/watch-updates.ts";
import { watchBack } from "./parts/leaving.ts";
import { Console } from "./session/console.tsx";

watchUpdates();
watchBack();
const root = document.getElementById("console");
if (root === null) throw new Error("the page has no place for the console");
createRoot(root).render(
  <StrictMode>
    <Console />
  </StrictMode>,
);

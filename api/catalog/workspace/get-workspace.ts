import { z } from "zod";
import { unrestrictedStaff } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { findWorkspace } from "./workspace.ts";
import { ShownWorkspace } from "./workspace-fields.ts";

export const getWorkspace: Operation = operation({
  name: "getWorkspace",
  method: "GET",
  path: "/workspace",
  tag: "Management",
  summary: "Get the workspace",
  description: "The workspace of the key.",
  access: unrestrictedStaff,
  input: {},
  output: z.object({ data: ShownWorkspace }),
  status: 200,
  run: async ({ db, workspace, principal }) => ({
    body: {
      data: showTo(principal.role, "workspace", await findWorkspace(db, workspace.id)),
    },
  }),
});

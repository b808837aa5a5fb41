import { z } from "zod";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { showTo } from "../../access/visibility.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { mintPostbackToken } from "../advertisers/own-tokens.ts";
import { setPostbackToken } from "./workspace.ts";
import { ShownWorkspace } from "./workspace-fields.ts";

export const rotateWorkspaceToken: Operation = operation({
  name: "rotateWorkspaceToken",
  method: "POST",
  path: "/workspace/rotate-postback-token",
  tag: "Management",
  summary: "Rotate the postback token of the workspace",
  description: "Gives the workspace a new token. The old one stops working within a second.",
  access: { ...unrestrictedAdminWrite, needsFresh: true },
  input: {},
  output: z.object({ data: ShownWorkspace }),
  status: 200,
  run: async ({ db, workspace, principal }) => {
    const row = await setPostbackToken(db, workspace.id, mintPostbackToken());
    return { body: { data: showTo(principal.role, "workspace", row) } };
  },
});

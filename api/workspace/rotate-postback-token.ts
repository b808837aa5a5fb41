import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { wholeAdminWrite } from "../access/access-of-operations.ts";
import { showTo } from "../access/visibility.ts";
import { mintPostbackToken } from "../advertisers/advertisers.ts";
import { type Operation, operation } from "../operation.ts";
import { lockWorkspace, updateWorkspace } from "./workspace.ts";
import { ShownWorkspace } from "./workspace-fields.ts";

export const rotateWorkspaceToken: Operation = operation({
  name: "rotateWorkspaceToken",
  method: "POST",
  path: "/workspace/rotate-postback-token",
  tag: "Management",
  summary: "Give the workspace a new postback token; the old one stops working within a second",
  access: wholeAdminWrite,
  input: {},
  output: z.object({ data: ShownWorkspace }),
  status: 200,
  run: async ({ db, workspace, principal }) => {
    const row = await inTransaction(db, async (tx) => {
      const current = await lockWorkspace(tx, workspace.id);
      return await updateWorkspace(tx, { ...current, postback_token: mintPostbackToken() });
    });
    return { body: { data: showTo(principal.role, "workspace", row) } };
  },
});

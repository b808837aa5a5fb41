import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { violatedConstraint } from "../../../schemas/postgres/errors.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { referenceFaults } from "../../access/references.ts";
import { showTo } from "../../access/visibility.ts";
import { destinationMacros, macroFaults } from "../../http/macro-faults.ts";
import { presentFields } from "../../http/patch.ts";
import { conflict } from "../../operation/errors.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { findWorkspace, lockWorkspace, updateWorkspace as updateRow } from "./workspace.ts";
import { PatchWorkspaceBody, ShownWorkspace } from "./workspace-fields.ts";

export const updateWorkspace: Operation = operation({
  name: "updateWorkspace",
  method: "PATCH",
  path: "/workspace",
  tag: "Management",
  summary: "Update the workspace",
  description:
    "Changes the settings in the body. A workspace that is set `inactive` refuses its own keys, including this one; the command line sets it active again.",
  access: unrestrictedAdminWrite,
  input: { body: PatchWorkspaceBody },
  output: z.object({ data: ShownWorkspace }),
  status: 200,
  failures: ["conflict"],
  findFaults: async (context, { body }) => ({
    ...macroFaults(
      { default_fallback_url: destinationMacros },
      { body, before: await findWorkspace(context.db, context.workspace.id) },
    ),
    ...(await referenceFaults(context, body, { organic_affiliate_id: "affiliate" })),
  }),
  run: async ({ db, workspace, principal }, { body }) => {
    try {
      const row = await inTransaction(db, async (tx) => {
        const current = await lockWorkspace(tx, workspace.id);
        const next = { ...current, ...presentFields(body) };
        return isDeepStrictEqual(next, current) ? current : await updateRow(tx, next);
      });
      return { body: { data: showTo(principal.role, "workspace", row) } };
    } catch (error) {
      if (violatedConstraint(error) !== "workspace_slug_key") throw error;
      throw conflict("slug", "another workspace has this slug");
    }
  },
});

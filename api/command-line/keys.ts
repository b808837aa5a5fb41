import type { Queryable } from "../../schemas/postgres/connect.ts";
import { insertKey, type NewKey } from "../access/insert-key.ts";
import { ROLES, type Role } from "../access/permissions.ts";
import { findAdvertiser } from "../advertisers/advertisers.ts";
import { findAffiliate } from "../affiliates/affiliates.ts";
import { parseReference } from "../rest/codes.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { getWorkspace } from "./workspaces.ts";

export type AskedKey = {
  readonly workspace: string;
  readonly role: string;
  /** Id or code. */
  readonly affiliate: string | undefined;
  readonly advertiser: string | undefined;
  readonly name: string | undefined;
};

/** One more key; answers it. @throws {CommandError} for an unknown workspace or account. */
export async function createKey(db: Queryable, asked: AskedKey): Promise<string> {
  const role = roleOf(asked);
  const { id: workspaceId } = await getWorkspace(db, asked.workspace);
  const account = await accountOf(db, workspaceId, role, asked);
  return await insertKey(db, { workspaceId, role, name: asked.name ?? "", ...account });
}

function roleOf({ role, affiliate, advertiser }: AskedKey): Role {
  const known = ROLES.find((one) => one === role);
  if (known === undefined) throw new UsageError(`--role ${role} is none of ${ROLES.join(", ")}`);
  if ((known === "partner") !== (affiliate !== undefined)) {
    throw new UsageError("--affiliate belongs to --role partner, which needs it");
  }
  if ((known === "advertiser") !== (advertiser !== undefined)) {
    throw new UsageError("--advertiser belongs to --role advertiser, which needs it");
  }
  return known;
}

async function accountOf(
  db: Queryable,
  workspaceId: number,
  role: Role,
  asked: AskedKey,
): Promise<Pick<NewKey, "affiliateId" | "advertiserId">> {
  if (role === "partner") {
    const reference = parseReference(asked.affiliate ?? "");
    const affiliate = reference && (await findAffiliate(db, workspaceId, reference));
    if (affiliate === undefined) {
      throw new CommandError(
        `Workspace ${asked.workspace} has no affiliate ${asked.affiliate ?? ""}.`,
      );
    }
    return { affiliateId: affiliate.id };
  }
  if (role === "advertiser") {
    const reference = parseReference(asked.advertiser ?? "");
    const advertiser = reference && (await findAdvertiser(db, workspaceId, reference.id));
    if (advertiser === undefined) {
      throw new CommandError(
        `Workspace ${asked.workspace} has no advertiser ${asked.advertiser ?? ""}.`,
      );
    }
    return { advertiserId: advertiser.id };
  }
  return {};
}

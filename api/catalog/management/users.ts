import { z } from "zod";
import { staff, unrestrictedAdminWrite } from "../../access/access-of-operations.ts";
import { email, name, oneOf, orEmpty, shownTime } from "../../fields/body-fields.ts";
import { field, textField } from "../../fields/field.ts";
import { wordParam } from "../../http/query-fields.ts";
import { manage } from "../../records/manage.ts";

const STATUSES = ["active", "inactive"] as const;

/** Staff members, who can be managers of partners and advertisers. They cannot sign in anywhere (AUTH-027). */
export const users = manage({
  resource: "user",
  names: { one: "User", many: "Users" },
  path: "/users",
  table: "app_user",
  fields: {
    name: field(name(), { shown: z.string(), required: true }),
    email: textField(orEmpty(email)),
    status: field(oneOf(...STATUSES), { shown: z.enum(STATUSES), unset: "active" }),
  },
  readOnly: { id: z.int(), created_at: shownTime, updated_at: shownTime },
  filters: { status: wordParam(...STATUSES) },
  // Managers of partners need the names of the staff.
  read: { ...staff(), needsUnrestrictedKey: "affiliates.read" },
  write: unrestrictedAdminWrite,
});

import { z } from "zod";
import { buildInfo } from "../../schemas/host/build-info.ts";
import { shownTime } from "../fields/body-fields.ts";
import { isFresh } from "../http/caller-refusal.ts";
import type { Operation } from "../operation/operation.ts";
import { PERMISSIONS, permissionsOf, ROLES } from "../operation/permissions.ts";
import { ANYONE, SIGNED_IN } from "./access-of-people.ts";
import { listOwnMemberships, type OwnMembershipRow } from "./members.ts";
import { passkeySiteAt } from "./passkey-site.ts";
import { getPerson } from "./people.ts";
import { emailProved, shownPreferences } from "./people-fields.ts";
import { personOperation, visitorOperation } from "./people-operation.ts";

export const getSignInOptions: Operation = visitorOperation({
  name: "getSignInOptions",
  method: "GET",
  path: "/sign-in/options",
  tag: "People",
  summary: "Get the ways to sign in",
  description: "At this address.",
  access: ANYONE,
  input: {},
  output: z.strictObject({
    data: z.strictObject({
      password: z.boolean().meta({ description: "Whether a password may be sent to this address" }),
      passkey: z.boolean().meta({ description: "Whether the name of this host suits passkeys" }),
      mail: z.boolean().meta({
        description: "Whether a link for a new password can be mailed",
      }),
      oidc: z
        .strictObject({ name: z.string().meta({ description: "For the button" }) })
        .nullable()
        .meta({ description: "The identity provider; null without one" }),
    }),
  }),
  status: 200,
  run: async ({ people, settings }) => {
    const isSafe = people.parts.cookie.refusalAt(people.host) === undefined;
    const passkey = isSafe && passkeySiteAt(people.host, settings.apiUrl) !== undefined;
    const { oidc: provider, mailer } = people.parts;
    const mail = isSafe && mailer !== undefined;
    const oidc = isSafe && provider !== undefined ? { name: provider.name } : null;
    return await Promise.resolve({ body: { data: { password: isSafe, passkey, mail, oidc } } });
  },
});

const Account = z.strictObject({
  id: z.int(),
  name: z.string(),
  status: z.string(),
});

const OwnMembership = z
  .strictObject({
    id: z.int().meta({ description: "Sent as X-Tracker-Membership with each request" }),
    version: z.int().meta({ description: "Rises with every change" }),
    role: z.enum(ROLES),
    permissions: z.array(z.enum(PERMISSIONS)),
    workspace: z.strictObject({
      id: z.int(),
      slug: z.string(),
      name: z.string(),
      brand_name: z.string(),
      timezone: z.string(),
      currency: z.string(),
      status: z.string(),
    }),
    affiliate: Account.extend({ code: z.string() }).nullable(),
    advertiser: Account.nullable(),
  })
  .meta({ id: "OwnMembership" });

const Output = z.strictObject({
  data: z
    .strictObject({
      person: z.strictObject({
        id: z.int(),
        email: z.string(),
        name: z.string(),
        email_proved: emailProved,
        is_operator: z.boolean().meta({ description: "Whether the person runs the installation" }),
        preferences: shownPreferences,
        has_password: z.boolean().meta({ description: "Whether a password is set" }),
        has_totp: z.boolean().meta({ description: "Whether codes are the second factor" }),
        has_oidc: z.boolean().meta({ description: "Whether the identity provider signs in, too" }),
        passkeys: z.int().meta({ description: "Number of passkeys" }),
        recovery_codes: z.int().meta({ description: "Number of unused recovery codes" }),
      }),
      session: z.strictObject({
        id: z.guid(),
        expires_at: shownTime,
        is_fresh: z.boolean().meta({
          description: "Whether a factor was proved within the last 10 minutes",
        }),
      }),
      memberships: z.array(OwnMembership).meta({ description: "The active memberships" }),
      server_version: z.string().meta({ description: "Release of the service" }),
    })
    .meta({ id: "OwnSession" }),
});

export const getSession: Operation = personOperation({
  name: "getSession",
  method: "GET",
  path: "/session",
  tag: "People",
  summary: "Get the session",
  description: "The signed-in person, its factors and its memberships.",
  access: SIGNED_IN,
  input: {},
  output: Output,
  status: 200,
  run: async ({ db, signedIn, nowMs }) => {
    const { id } = signedIn.person;
    const { status: _status, password_hash, ...person } = await getPerson(db, id);
    const memberships = await listOwnMemberships(db, id);
    const data = {
      person: { ...person, has_password: password_hash !== null },
      session: {
        id: signedIn.sessionId,
        expires_at: signedIn.expiresAt,
        is_fresh: isFresh(signedIn, nowMs),
      },
      memberships: memberships.map(shownMembership),
      server_version: buildInfo().version,
    };
    return { body: { data } };
  },
});

function shownMembership(row: OwnMembershipRow): z.infer<typeof OwnMembership> {
  const { affiliate_id: affiliateId, advertiser_id: advertiserId } = row;
  return {
    id: row.id,
    version: row.version,
    role: row.role,
    permissions: [...permissionsOf(row.role, row.permissions)],
    workspace: {
      id: row.workspace_id,
      slug: row.slug,
      name: row.workspace_name,
      brand_name: row.brand_name,
      timezone: row.timezone,
      currency: row.currency,
      status: row.workspace_status,
    },
    affiliate:
      affiliateId === null
        ? null
        : {
            id: affiliateId,
            name: row.affiliate_name ?? "",
            status: row.affiliate_status ?? "",
            code: row.affiliate_code ?? "",
          },
    advertiser:
      advertiserId === null
        ? null
        : {
            id: advertiserId,
            name: row.advertiser_name ?? "",
            status: row.advertiser_status ?? "",
          },
  };
}

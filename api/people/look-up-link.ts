import { z } from "zod";
import { shownTime } from "../fields/body-fields.ts";
import type { Operation } from "../operation/operation.ts";
import { ROLES } from "../operation/permissions.ts";
import { ANYONE_WRITES } from "./access-of-people.ts";
import { getLiveLink, refuseEndedLinkNow } from "./judge-link.ts";
import { linkToken } from "./people-fields.ts";
import { visitorOperation } from "./people-operation.ts";

const Output = z.strictObject({
  data: z
    .strictObject({
      kind: z.enum(["first_admin", "invitation", "reset"]).meta({
        description: "What using the link does",
      }),
      email: z.string().nullable().meta({ description: "Who is invited" }),
      role: z.enum(ROLES).nullable(),
      workspace: z.string().nullable().meta({ description: "Name of the workspace to join" }),
      account: z.string().nullable().meta({ description: "Name of the partner or advertiser" }),
      invited_by: z.string().nullable().meta({ description: "Name of the person who invites" }),
      expires_at: shownTime,
    })
    .meta({ id: "OneTimeLink" }),
});

/** POST, so that the token stands in no log. Says nothing about whether the person exists: the inviter has the link, too. */
export const lookUpLink: Operation = visitorOperation({
  name: "lookUpLink",
  method: "POST",
  path: "/one-time-links/look-up",
  tag: "People",
  summary: "Look up a one-time link",
  description: "Says what it is for. It stays unused.",
  access: ANYONE_WRITES,
  input: { body: z.strictObject({ token: linkToken }) },
  output: Output,
  status: 200,
  failures: ["not_found", "forbidden"],
  run: async (context, { body }) => {
    const link = await getLiveLink(context.db, body.token);
    await refuseEndedLinkNow(context.db, link);
    const data = {
      kind: link.kind,
      email: link.kind === "reset" ? null : link.email,
      role: link.role,
      workspace: link.workspace_name,
      account: link.affiliate_name ?? link.advertiser_name,
      invited_by: link.inviter_name,
      expires_at: link.expires_at,
    };
    return { body: { data } };
  },
});

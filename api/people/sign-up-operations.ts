import { randomUUID } from "node:crypto";
import { z } from "zod";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { insertAuditEntry } from "../access/audit-log.ts";
import { affiliates, queueAffiliateSignUp } from "../catalog/affiliates/affiliates.ts";
import { country, email, name, orEmpty, text } from "../fields/body-fields.ts";
import { mintCode } from "../operation/codes.ts";
import { notFound } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { ANYONE, ANYONE_APPLIES } from "./access-of-people.ts";
import type { VisitorContext } from "./people-context.ts";
import { visitorOperation } from "./people-operation.ts";
import { findOpenWorkspace, insertSignUp, lockSignUp, type OpenWorkspace } from "./sign-ups.ts";
import { countAttempt, holderOfSignUps } from "./throttle.ts";

/** Advertisers cannot sign up yet. */
const AUDIENCE = "partner";
const CREATED = 201;

const Path = z.object({
  slug: z.string().meta({ description: "Slug of the workspace", examples: ["acme"] }),
  audience: z.string().meta({ description: "Who signs up: `partner`", examples: [AUDIENCE] }),
});

export const getSignUpForm: Operation = visitorOperation({
  name: "getSignUpForm",
  method: "GET",
  path: "/signup/{slug}/{audience}",
  tag: "People",
  summary: "Get a sign-up form",
  description: "Of a workspace whose setting `sign_up` lets partners sign up.",
  access: ANYONE,
  input: { path: Path },
  output: z.strictObject({
    data: z
      .strictObject({
        audience: z.literal(AUDIENCE).meta({ description: "Who signs up here" }),
        workspace: z.string().meta({ description: "Name of the workspace for partners" }),
      })
      .meta({ id: "SignUpForm" }),
  }),
  status: 200,
  failures: ["not_found"],
  run: async (context, { path }) => {
    const { shown_name: workspace } = await openWorkspace(context, path);
    return { body: { data: { audience: AUDIENCE, workspace } } };
  },
});

const Body = z.strictObject({
  name: name(),
  email,
  company: text().optional(),
  website: text().optional(),
  country: orEmpty(country).optional(),
  messenger: text().optional(),
  traffic_sources: text().optional(),
  website_url2: text().optional().meta({
    description:
      "Leave it out. Only programs that fill in every field give it, and nothing is kept",
  }),
});

export const signUp: Operation = visitorOperation({
  name: "signUp",
  method: "POST",
  path: "/signup/{slug}/{audience}",
  tag: "People",
  summary: "Sign up as a partner",
  description:
    "Makes a pending partner and fires `affiliate.signup`. An admin decides, and then invites the person. The answer does not say whether the e-mail is known. A second application of one e-mail within 24 hours is the same one. An address has 10 an hour.",
  access: ANYONE_APPLIES,
  input: { path: Path, body: Body },
  output: z.strictObject({
    data: z
      .strictObject({
        application_id: z.guid().meta({ description: "The same for a second application" }),
        email_verification: z.literal("not_required").meta({
          description: "Whether the e-mail has to be confirmed",
        }),
      })
      .meta({ id: "SignUp" }),
  }),
  status: CREATED,
  failures: ["not_found", "rate_limited", "forbidden"],
  run: async (context, { path, body }) => {
    const { db, clientIp } = context;
    const workspace = await openWorkspace(context, path);
    await countAttempt(db, holderOfSignUps(clientIp));
    const { website_url2: trap = "", ...given } = body;
    const id = trap === "" ? await apply(context, workspace, given) : randomUUID();
    return { body: { data: { application_id: id, email_verification: "not_required" } } };
  },
});

/** @throws {ApiError} `not_found` */
async function openWorkspace(
  { db }: VisitorContext,
  { slug, audience }: z.infer<typeof Path>,
): Promise<OpenWorkspace> {
  const workspace = audience === AUDIENCE ? await findOpenWorkspace(db, slug) : undefined;
  if (workspace === undefined) throw notFound("sign-up form");
  return workspace;
}

/** The id of the application. A partner with the same e-mail stays as it is: whoever decides sees both. */
async function apply(
  context: VisitorContext,
  workspace: OpenWorkspace,
  given: Omit<z.infer<typeof Body>, "website_url2">,
): Promise<string> {
  return await inTransaction(context.db, async (tx) => {
    const known = await lockSignUp(tx, workspace.id, given.email);
    if (known !== undefined) return known;
    const row = await affiliates.insert(tx, workspace.id, {
      ...given,
      status: "pending",
      code: mintCode(),
      currency: workspace.currency,
    });
    const id = randomUUID();
    const { email: asked } = given;
    await insertSignUp(tx, { id, workspaceId: workspace.id, email: asked, affiliateId: row.id });
    await queueAffiliateSignUp(tx, { ...context, workspace }, row);
    await insertAuditEntry(tx, {
      principal: { actor: { kind: "applicant", name: given.name }, workspace },
      action: "rest POST /signup/{slug}/{audience}",
      ip: context.clientIp,
      status: CREATED,
      requestId: context.requestId,
    });
    return id;
  });
}

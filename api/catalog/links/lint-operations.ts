import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { flag, oneOf } from "../../fields/body-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { AD_PLATFORMS } from "./ad-platform-tags.ts";
import { listActiveDomains } from "./link-domains.ts";
import { LINT_CODES, type LintCode } from "./lint-issues.ts";
import { AD_ENTITIES, lintTemplate } from "./lint-template.ts";

/** Longer than a template may be, so that a long one is reported as an issue and not as a wrong field. */
const CHARACTERS_MAX = 20_000;

/** Text that is checked and not stored. */
const checkedText = z
  .string("expected text")
  .max(CHARACTERS_MAX, `expected at most ${CHARACTERS_MAX} characters`);
export const adPlatform = oneOf(...AD_PLATFORMS);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a literal object
const CODES = Object.keys(LINT_CODES) as LintCode[];

const Body = z
  .strictObject({
    template: checkedText.optional(),
    final_url: checkedText.optional(),
    suffix: checkedText.optional(),
    platform: adPlatform.default("adplatform_a"),
    entity: oneOf(...AD_ENTITIES)
      .default("campaign")
      .meta({
        description: "Where the template is used: determines how many `{_name}` are allowed",
      }),
    allow_uncertified: flag
      .default(false)
      .meta({ description: "For older accounts: a host that is not certified is a warning" }),
  })
  .refine(({ template, suffix }) => template !== undefined || suffix !== undefined, {
    path: ["template"],
    message: "expected a template, a suffix or both",
  });

const Issue = z
  .strictObject({
    code: z.enum(CODES),
    severity: z.enum(["error", "warning", "info"]),
    message: z.string(),
    hint: z.string().optional(),
  })
  .meta({ id: "LintIssue" });

const Verdict = z
  .strictObject({
    ok: z.boolean(),
    template: z
      .strictObject({
        ok: z.boolean(),
        host: z.string().nullable(),
        length: z.int(),
        tags: z.array(z.string()),
        issues: z.array(Issue),
      })
      .nullable(),
    suffix: z.array(Issue),
  })
  .meta({ id: "LintVerdict" });

/** The same operation under both of its paths (T51). */
export const lintGoogleAds = lintOperation("lintGoogleAdsTemplate", "/google-ads/lint");
export const lintAdPlatform = lintOperation("lintAdPlatformTemplate", "/ad-platform/lint");

function lintOperation(name: string, path: string): Operation {
  return operation({
    name,
    method: "POST",
    path,
    tag: "Links",
    summary: "Check a tracking template",
    description:
      "Nothing is stored. Errors make a template unusable, warnings do not: `ok` is false only with an error. Issues of " +
      "`final_url` are listed with those of the template, or without a template with those of the suffix. `template` of the answer " +
      "is null when none was sent.",
    access: staff("tools.lint"),
    input: { body: Body },
    output: z.object({ data: Verdict }),
    status: 200,
    run: async ({ db, workspace }, { body }) => ({
      body: {
        data: lintTemplate({
          template: body.template,
          finalUrl: body.final_url,
          suffix: body.suffix,
          platform: body.platform,
          entity: body.entity,
          allowUncertified: body.allow_uncertified,
          domains: await listActiveDomains(db, workspace.id),
        }),
      },
    }),
  });
}

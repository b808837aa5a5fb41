import { z } from "zod";
import { staff } from "../../access/access-of-operations.ts";
import { text } from "../../fields/body-fields.ts";
import { type Operation, operation } from "../../operation/operation.ts";
import { expandLandingPage, expandTemplate } from "./expand-template.ts";
import { CHAIN_LIMITS, type Chain, followChain, TEST_PROBLEMS } from "./follow-template.ts";
import { adPlatform } from "./lint-operations.ts";

/** Limit for a template, a suffix and a URL (G59). */
const CHARACTERS_MAX = 2_048;

const Body = z.strictObject({
  template: text(CHARACTERS_MAX)
    .min(1, "expected a tracking template")
    .meta({ examples: ["{lpurl}?src=ad"] }),
  final_url: text(CHARACTERS_MAX)
    .regex(/^https?:\/\/[^/?#\s]/i, "expected an absolute http or https URL")
    .meta({ examples: ["https://shop.example/landing"] }),
  suffix: text(CHARACTERS_MAX).default(""),
  platform: adPlatform.default("adplatform_a"),
});

const Report = z
  .strictObject({
    ok: z.boolean().meta({ description: "No problem other than slowness" }),
    problems: z.array(z.enum(TEST_PROBLEMS)).meta({
      description:
        "`unreachable`: no answer within 5 seconds · `too_many_redirects`: more than 10 · `slow`: more than 1 second in total · " +
        "`private_address`: a URL of the chain leads to an address that is not public · `invalid_url`: the template or a redirect is not an http(s) " +
        "URL · `error_status`: the last answer is 400 or higher · `wrong_destination`: the chain ends elsewhere",
    }),
    url: z.string().meta({ description: "The template with its tags filled in" }),
    expected_url: z
      .string()
      .meta({ description: "The final URL with its suffix: where the chain must end" }),
    final_url: z
      .string()
      .nullable()
      .meta({ description: "Where it ends; null when no request was made" }),
    matches: z.boolean().meta({ description: "Whether both are the same" }),
    duration_ms: z.int(),
    hops: z.array(
      z.strictObject({
        url: z.string(),
        status: z.int().nullable().meta({ description: "Null when there was no answer" }),
        duration_ms: z.int(),
      }),
    ),
  })
  .meta({ id: "TemplateTest" });

export const testTemplate: Operation = operation({
  name: "testTemplate",
  method: "POST",
  path: "/ad-platform/test",
  tag: "Management",
  summary: "Test a tracking template",
  description:
    "Follows a tracking template to its landing page. The template is filled in as for one click and its redirects are followed, at most 10, with 5 seconds for each, to public " +
    "addresses only. Tags get the value `template-test`, custom parameters none. Trackers, including this one, count a click.",
  access: staff("tools.lint"),
  input: { body: Body },
  output: z.object({ data: Report }),
  status: 200,
  run: async ({ outgoing }, { body }) => {
    const { template, final_url, suffix, platform } = body;
    const expected = expandLandingPage(final_url, suffix, platform);
    const url = expandTemplate(template, expected, platform);
    const chain = await followChain(outgoing, url, CHAIN_LIMITS);
    return { body: { data: reportOf(chain, { url, expected }) } };
  },
});

function reportOf(
  chain: Chain,
  { url, expected }: { readonly url: string; readonly expected: string },
): z.output<typeof Report> {
  const matches = chain.final_url !== null && isSame(chain.final_url, expected);
  const isWrong = !matches && chain.problems.every((problem) => problem === "slow");
  const found = new Set([...chain.problems, ...(isWrong ? (["wrong_destination"] as const) : [])]);
  const problems = TEST_PROBLEMS.filter((problem) => found.has(problem));
  return {
    ok: problems.every((problem) => problem === "slow"),
    problems,
    url,
    expected_url: expected,
    final_url: chain.final_url,
    matches,
    duration_ms: chain.duration_ms,
    hops: [...chain.hops],
  };
}

/** Compares URLs as they are requested: a URL without a path has `/`. */
function isSame(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).href === new URL(b).href;
}

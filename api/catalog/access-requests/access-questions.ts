import { z } from "zod";
import { country, flag, longText, oneOf, targetUrl, text } from "../../fields/body-fields.ts";
import { listOf } from "../../fields/bounded-list.ts";
import type { FieldFaults } from "../../operation/operation.ts";

const QUESTIONS_MAX = 30;
const OPTIONS_MAX = 100;
const LABEL_MAX = 500;
const OPTION_MAX = 200;

const KINDS = [
  "text",
  "long_text",
  "choice",
  "multi",
  "url",
  "number",
  "boolean",
  "country",
] as const;

const option = text(OPTION_MAX).min(1, "expected a word");

/** A question of a form that people fill in. */
const question = z.strictObject(
  {
    key: z
      .string("expected a key")
      .regex(/^[a-z][a-z0-9_]{0,39}$/, "expected a lower-case word of at most 40 characters"),
    label: text(LABEL_MAX).min(1, "expected a question"),
    kind: oneOf(...KINDS),
    required: flag.default(false),
    options: listOf(option, {
      expected: "expected a list of answers",
      max: OPTIONS_MAX,
      tooMany: `expected at most ${OPTIONS_MAX} answers`,
    }).default([]),
  },
  "expected a question",
);
export type Question = z.output<typeof question>;

/** The questions in a body. A choice has options to choose from, and no key occurs twice. */
export const questions = listOf(question, {
  expected: "expected a list of questions",
  max: QUESTIONS_MAX,
  tooMany: `expected at most ${QUESTIONS_MAX} questions`,
}).superRefine((all, context) => {
  for (const [index, { key, kind, options }] of all.entries()) {
    const isChoice = kind === "choice" || kind === "multi";
    if (isChoice && options.length === 0)
      context.addIssue({ code: "custom", path: [index, "options"], message: "expected options" });
    if (all.findIndex((other) => other.key === key) !== index)
      context.addIssue({ code: "custom", path: [index, "key"], message: "names a key twice" });
  }
});

/** Questions in answers. */
export const shownQuestions = z.array(
  z.strictObject({
    key: z.string(),
    label: z.string(),
    kind: z.enum(KINDS),
    required: z.boolean(),
    options: z.array(z.string()),
  }),
);

/** Answers in answers of the API: texts, numbers, booleans and, for `multi`, lists of texts. */
export const shownAnswers = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);

/** Answers in a body, before they are compared with the questions. */
export const answers = z.record(z.string(), z.unknown(), "expected an object of answers");

/** What is wrong with each answer, by `answers.<key>`. A body that is no object is left to its schema. */
export function answerFaults(asked: readonly Question[], given: unknown): FieldFaults {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return {};
  const byKey: Readonly<Record<string, unknown>> = { ...given };
  const faults: Record<string, string> = {};
  for (const key of Object.keys(byKey)) {
    if (!asked.some((one) => one.key === key))
      faults[`answers.${key}`] = "there is no such question";
  }
  for (const one of asked) {
    const answer = byKey[one.key];
    if (answer === undefined) {
      if (one.required) faults[`answers.${one.key}`] = "expected an answer";
      continue;
    }
    const parsed = schemaOf(one).safeParse(answer);
    if (!parsed.success)
      faults[`answers.${one.key}`] = parsed.error.issues[0]?.message ?? "not a valid answer";
  }
  return faults;
}

function schemaOf({ kind, required, options }: Question): z.ZodType {
  const choice = z
    .string("expected one of the options")
    .refine((value) => options.includes(value), "expected one of the options");
  switch (kind) {
    case "text":
      return filled(text(), required);
    case "long_text":
      return filled(longText(), required);
    case "choice":
      return choice;
    case "multi":
      return listOf(choice, {
        expected: "expected a list of options",
        max: OPTIONS_MAX,
        tooMany: `expected at most ${OPTIONS_MAX} options`,
      })
        .min(required ? 1 : 0, "expected at least one option")
        .refine((values) => new Set(values).size === values.length, "names an option twice");
    case "url":
      return targetUrl;
    case "number":
      return z.number("expected a number");
    case "boolean":
      return flag;
    case "country":
      return country;
  }
}

function filled(schema: z.ZodString, required: boolean): z.ZodType {
  return schema.refine((value) => !required || value.trim() !== "", "expected an answer");
}

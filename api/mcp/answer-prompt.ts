import { refusalOfAccess } from "../access/authorize.ts";
import type { Json } from "../operation/json-object.ts";
import type { OperationContext } from "../operation/operation.ts";
import { reportScope } from "../reports/caller.ts";
import { listedNow } from "./billing-switch.ts";
import { isObject } from "./json-rpc.ts";
import { PROMPTS, type Prompt, type PromptValues } from "./prompts.ts";

const VALUE_CHARACTERS_MAX = 200;

/** A prompt, or why there is none. */
export type PromptAnswer = { readonly result: Json } | { readonly fault: string };

/** The answer of `prompts/list`: the prompts whose tools the key may call, and whose resources it may read. */
export async function describePrompts(context: OperationContext): Promise<readonly Json[]> {
  const prompts = await promptsFor(context);
  return prompts.map(({ name, title, description, arguments: named }) => ({
    name,
    title,
    description,
    arguments: named.map((argument) => ({
      name: argument.name,
      description: argument.description,
      required: argument.isRequired === true,
    })),
  }));
}

/** The answer of `prompts/get`. */
export async function answerPrompt(
  context: OperationContext,
  params: Readonly<Record<string, unknown>>,
): Promise<PromptAnswer> {
  const prompts = await promptsFor(context);
  const prompt = prompts.find(({ name }) => name === params["name"]);
  if (prompt === undefined) return { fault: "there is no such prompt" };
  const values = readValues(prompt, params["arguments"]);
  if (typeof values === "string") return { fault: values };
  const text = prompt.text(values, reportScope(context.principal).role);
  return {
    result: {
      description: prompt.description,
      messages: [{ role: "user", content: { type: "text", text } }],
    },
  };
}

async function promptsFor(context: OperationContext): Promise<readonly Prompt[]> {
  const open = PROMPTS.filter(({ operations }) =>
    operations.every(({ access }) => refusalOfAccess(context.principal, access) === undefined),
  );
  return await listedNow(context, open);
}

/** The values by name, or the fault. An empty value is the same as none: forms of clients send it for a field that was left empty. */
function readValues(prompt: Prompt, given: unknown): PromptValues | string {
  const values = given ?? {};
  if (!isObject(values)) return "arguments must be an object";
  const known = prompt.arguments.map(({ name }) => name);
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return `${prompt.name} has no such argument; it accepts ${known.join(", ")}`;
  }
  const read: Record<string, string> = {};
  for (const { name, isRequired } of prompt.arguments) {
    const value = values[name] ?? "";
    if (typeof value !== "string") return `${name} must be text`;
    if (value.length > VALUE_CHARACTERS_MAX) {
      return `${name} must have at most ${VALUE_CHARACTERS_MAX} characters`;
    }
    if (value === "" && isRequired === true) return `${name} is required`;
    if (value !== "") read[name] = value;
  }
  return read;
}

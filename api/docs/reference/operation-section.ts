import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import { type CodeSample, codeSamples, sampleCallOf } from "./code-samples.ts";
import {
  bodiesOf,
  type DescribedOperation,
  parametersIn,
  successesOf,
} from "./described-operation.ts";
import { fieldList, fieldsOf, type SchemaLink, typeText } from "./field-list.ts";
import { codeBlock, prose } from "./html.ts";
import { JSON_STYLE, literal } from "./literal.ts";

export type SectionOptions = {
  readonly document: Json;
  /** Address of the API. */
  readonly baseUrl: string;
  readonly linkTo: SchemaLink;
  /** Address of the page of error codes. */
  readonly errorsPath: string;
};

const LANGUAGE_NAMES: Readonly<Record<CodeSample["language"], string>> = {
  sh: "curl",
  ts: "TypeScript",
  python: "Python",
};

/** One operation: what it does and takes on the left, samples on the right. */
export function operationSection(operation: DescribedOperation, options: SectionOptions): string {
  const { described, id, method, path, name } = operation;
  const anchor = escapeMarkup(id);
  return `<section class="operation" id="${anchor}"><h2><a href="#${anchor}">${escapeMarkup(name)}</a></h2>
<div class="columns"><div><p class="address">${methodMark(method)}<span>${escapeMarkup(path)}</span></p>
${descriptionPart(asText(described["description"]))}
${parametersPart("Path", operation, options)}${parametersPart("Query", operation, options)}${parametersPart("Header", operation, options)}
${bodyPart(operation, options)}${answerFields(operation, options)}${errorsPart(operation, options)}
</div><aside>${samplesOf(codeSamples(sampleCallOf(operation), options.baseUrl))}
${otherBodies(operation)}${answerExamples(operation)}</aside></div></section>`;
}

export function methodMark(method: string): string {
  return `<span class="method method-${method.toLowerCase()}">${method}</span>`;
}

/** Samples of one call in all languages. The script of the page shows one of them. */
export function samplesOf(samples: readonly CodeSample[]): string {
  const blocks = samples.map(
    ({ language, code }) =>
      `<pre data-language="${language}" aria-label="${LANGUAGE_NAMES[language]}"><code class="language-${language}">${escapeMarkup(code)}</code></pre>`,
  );
  return `<div class="samples">${blocks.join("")}</div>`;
}

/** The last paragraph says which keys may call the operation. */
function descriptionPart(description: string): string {
  const paragraphs = description.split("\n\n");
  const access = paragraphs.at(-1)?.startsWith("Roles: ") === true ? paragraphs.pop() : undefined;
  const text = paragraphs.length === 0 ? "" : prose(paragraphs.join("\n\n"));
  return access === undefined ? text : `${text}<p class="access">${escapeMarkup(access)}</p>`;
}

const PLACES = { Path: "path", Query: "query", Header: "header" } as const;

function parametersPart(
  title: keyof typeof PLACES,
  operation: DescribedOperation,
  { linkTo }: SectionOptions,
): string {
  const parameters = parametersIn(operation, PLACES[title]);
  if (parameters.length === 0) return "";
  const fields = parameters.map(({ name, description, schema, required }) => ({
    name: asText(name),
    schema: { ...asObject(schema), ...(description === undefined ? {} : { description }) },
    isRequired: required === true,
  }));
  return `<h3>${title}</h3>${fieldList(fields, { linkTo, idPrefix: operation.id })}`;
}

function bodyPart(operation: DescribedOperation, { linkTo }: SectionOptions): string {
  const { schema } = asObject(bodiesOf(operation)["application/json"]);
  const { description } = asObject(operation.described["requestBody"]);
  if (description !== undefined) return `<h3>Body</h3>${prose(asText(description))}`;
  if (schema === undefined) return "";
  return `<h3>Body</h3>${fieldList(fieldsOf(asObject(schema)), { linkTo, idPrefix: operation.id })}`;
}

function answerFields(operation: DescribedOperation, { linkTo }: SectionOptions): string {
  return successesOf(operation)
    .map(([status, response]) => {
      const schema = asObject(
        asObject(asObject(response["content"])["application/json"])["schema"],
      );
      const fields = fieldsOf(schema).map((field) => ({ ...field, isRequired: false }));
      const listed =
        fields.length === 0
          ? `<p>${typeText(schema, linkTo)}</p>`
          : fieldList(fields, { linkTo, idPrefix: `${operation.id}.answer` });
      return `<h3>Answer ${escapeMarkup(status)}</h3>${listed}`;
    })
    .join("");
}

function answerExamples(operation: DescribedOperation): string {
  const blocks = successesOf(operation).flatMap(([status, response]) => {
    const { example } = asObject(asObject(response["content"])["application/json"]);
    if (example === undefined) return [];
    const text = literal(example, JSON_STYLE);
    return [`<h4>Answer ${escapeMarkup(status)}</h4>${codeBlock("json", text)}`];
  });
  return blocks.length === 0 ? "" : `<div class="answer">${blocks.join("")}</div>`;
}

/** Examples of bodies in other forms than JSON. */
function otherBodies(operation: DescribedOperation): string {
  const others = Object.entries(bodiesOf(operation)).filter(
    ([type]) => type !== "application/json",
  );
  return others
    .map(
      ([type, { example }]) =>
        `<h4>Body as ${escapeMarkup(type)}</h4>${codeBlock("text", asText(example))}`,
    )
    .join("");
}

function errorsPart({ described }: DescribedOperation, options: SectionOptions): string {
  const shared = asObject(asObject(options.document["components"])["responses"]);
  const lines = Object.entries(asObject(described["responses"])).flatMap(([status, response]) => {
    if (!/^[45]/.test(status)) return [];
    const reference = asText(asObject(response)["$ref"]);
    const { description } = asObject(shared[reference.slice(reference.lastIndexOf("/") + 1)]);
    const codes = [...asText(description).matchAll(/^`(\w+)`:/gm)].map(([, code = ""]) => code);
    const links = codes.map(
      (code) => `<a href="${options.errorsPath}#${code}"><code>${code}</code></a>`,
    );
    return [`<li><code>${status}</code> ${links.join(" ")}</li>`];
  });
  return `<details><summary>Errors</summary><ul class="fields">${lines.join("")}</ul></details>`;
}

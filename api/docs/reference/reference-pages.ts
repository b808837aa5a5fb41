import assert from "node:assert";
import { escapeMarkup } from "../../../schemas/macros/escape-markup.ts";
import { StaticText } from "../../http/static-text.ts";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import { type FramedPage, pageFrame } from "../page-frame/page-frame.ts";
import { type DescribedOperation, operationsOf } from "./described-operation.ts";
import { errorsPage } from "./errors-page.ts";
import { fieldList, fieldsOf } from "./field-list.ts";
import { operationSection } from "./operation-section.ts";
import { OVERVIEW_SECTIONS, overviewPage } from "./overview-page.ts";
import type { ReferenceResource } from "./reference-group.ts";
import { REFERENCE_GROUPS, resourceOf } from "./reference-groups.ts";
import { schemaHomes } from "./schema-homes.ts";
import { searchIndex } from "./search-index.ts";

const HTML = "text/html; charset=utf-8";
/** Below the API's base path. */
const OVERVIEW = "/docs";

type ResourcePage = ReferenceResource & {
  /** On this origin. */
  readonly path: string;
  readonly group: string;
  readonly operations: readonly DescribedOperation[];
};

export type ReferenceText = {
  /** Below the API's base path. */
  readonly path: string;
  readonly isPage: boolean;
  readonly text: StaticText;
};

/**
 * The pages of the reference (G04) and the index of their search, made from the OpenAPI document. `document` is called when the first text
 * is sent. `basePath`: `/api/v1`.
 */
export function referenceTexts(document: () => Json, basePath: string): ReferenceText[] {
  let made: Reference | undefined;
  const reference = (): Reference => (made ??= new Reference(document(), basePath));
  const page = (path: string, make: () => string): ReferenceText => ({
    path,
    isPage: true,
    text: new StaticText(HTML, make),
  });
  return [
    page(OVERVIEW, () => reference().overview()),
    page(`${OVERVIEW}/errors`, () => reference().errors()),
    ...REFERENCE_GROUPS.flatMap(({ resources }) => resources).map(({ page: name }) =>
      page(`${OVERVIEW}/${name}`, () => reference().resource(name)),
    ),
    {
      path: `${OVERVIEW}/search.json`,
      isPage: false,
      text: new StaticText("application/json; charset=utf-8", () => reference().index()),
    },
  ];
}

class Reference {
  readonly #pages: readonly ResourcePage[];
  readonly #document: Json;
  readonly #root: string;
  readonly #baseUrl: string;
  readonly #homes: ReadonlyMap<string, string>;

  constructor(document: Json, basePath: string) {
    const operations = operationsOf(document);
    const root = `${basePath}${OVERVIEW}`;
    const servers = Array.isArray(document["servers"]) ? document["servers"].map(asObject) : [];
    this.#document = document;
    this.#root = root;
    this.#baseUrl = asText(servers[0]?.["url"]);
    this.#pages = REFERENCE_GROUPS.flatMap(({ title: group, resources }) =>
      resources.map((resource) => ({
        ...resource,
        group,
        path: `${root}/${resource.page}`,
        operations: operations.filter(({ path }) => resourceOf(path) === resource),
      })),
    );
    this.#homes = schemaHomes(document, this.#pages);
  }

  overview(): string {
    const sections = OVERVIEW_SECTIONS.map(([id, text]) => ({ href: `${this.#root}#${id}`, text }));
    const groups = REFERENCE_GROUPS.map(({ title }) => ({
      title,
      pages: this.#pages.filter(({ group }) => group === title),
    }));
    return this.#framed({
      title: "API reference",
      description: "Every call of the API, with samples in curl, TypeScript and Python",
      path: this.#root,
      sections,
      body: overviewPage(this.#document, groups, this.#baseUrl),
    });
  }

  errors(): string {
    return this.#framed({
      title: "Errors · API reference",
      description: "Every error code with its status and meaning",
      path: this.#errorsPath,
      sections: [],
      body: errorsPage(),
    });
  }

  /** @throws for an unknown name */
  resource(pageName: string): string {
    const page = this.#pages.find((one) => one.page === pageName);
    assert(page !== undefined, `no page ${pageName}`);
    const { path, title, about, operations } = page;
    const schemas = this.#schemasOf(path);
    const options = {
      document: this.#document,
      baseUrl: this.#baseUrl,
      errorsPath: this.#errorsPath,
      linkTo: this.#linkTo,
    };
    const records = schemas.map(([name, schema]) => this.#schemaSection(name, schema));
    return this.#framed({
      title: `${title} · API reference`,
      description: about,
      path,
      sections: [
        ...operations.map(({ id, name }) => ({ href: `${path}#${id}`, text: name })),
        ...schemas.map(([name]) => ({ href: `${path}#schema-${name}`, text: recordTitle(name) })),
      ],
      body: `<h1>${escapeMarkup(title)}</h1><p>${escapeMarkup(about)}</p>
${operations.map((operation) => operationSection(operation, options)).join("")}${records.join("")}`,
    });
  }

  index(): string {
    const pages = this.#pages.map((page) => ({ ...page, schemas: this.#schemasOf(page.path) }));
    return JSON.stringify(searchIndex(pages, this.#errorsPath));
  }

  get #errorsPath(): string {
    return `${this.#root}/errors`;
  }

  readonly #linkTo = (name: string): string | undefined => {
    const home = this.#homes.get(name);
    return home === undefined ? undefined : `${home}#schema-${name}`;
  };

  #schemasOf(path: string): [name: string, schema: Json][] {
    const all = asObject(asObject(this.#document["components"])["schemas"]);
    return Object.entries(all)
      .filter(([name]) => this.#homes.get(name) === path)
      .map(([name, schema]) => [name, asObject(schema)]);
  }

  #schemaSection(name: string, schema: Json): string {
    const id = `schema-${name}`;
    const fields = fieldsOf(schema).map((field) => ({ ...field, isRequired: false }));
    return `<section class="operation schema" id="${id}"><h2><a href="#${id}">${recordTitle(name)}</a></h2>
<div class="columns"><div>${fieldList(fields, { linkTo: this.#linkTo, idPrefix: id })}</div></div></section>`;
  }

  /** `sections`: links to the parts of this page, shown under it in the sidebar. */
  #framed(page: Omit<FramedPage, "groups"> & { readonly sections: Links }): string {
    const { path, sections } = page;
    const withSections = (href: string, text: string): Links => [
      { href, text },
      ...(href === path ? sections : []),
    ];
    const start = [
      ...withSections(this.#root, "Overview"),
      ...withSections(this.#errorsPath, "Errors"),
    ];
    const groups = REFERENCE_GROUPS.map(({ title }) => ({
      title,
      links: this.#pages
        .filter(({ group }) => group === title)
        .flatMap(({ path: href, title: text }) => withSections(href, text)),
    }));
    return pageFrame({ ...page, groups: [{ title: "Start", links: start }, ...groups] });
  }
}

type Links = FramedPage["groups"][number]["links"];

/** `SmartLink` → "The smart link record". */
function recordTitle(schema: string): string {
  return `The${schema.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} record`;
}

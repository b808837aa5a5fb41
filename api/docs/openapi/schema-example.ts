import { asObject, asText, type Json } from "../../operation/json-object.ts";
import type { Schemas } from "./openapi-schemas.ts";

const DEPTH_MAX = 12;

/** Example texts by the name of a field, or of a record and its field, for schemas without an example. */
const WORDS: Readonly<Record<string, string>> = {
  name: "Summer shop",
  code: "SUMMER",
  slug: "summer",
  label: "Summer shop",
  currency: "USD",
  timezone: "Europe/Berlin",
  tz: "Europe/Berlin",
  country: "DE",
  city: "Berlin",
  os: "iOS",
  browser: "Safari",
  device_type: "mobile",
  traffic_source: "google",
  host: "go.example.com",
  domain: "go.example.com",
  message: "why it was refused",
  email: "anna@example.com",
  website: "https://www.example.com",
  url: "https://www.example.com/",
  ip: "203.0.113.7",
  offer_name: "Summer shop",
  affiliate_name: "Anna",
  affiliate_code: "ANNA2025",
  category: "",
  destination_url: "https://shop.example/landing?cid={click_id}",
  brand_name: "Summer",
  allowed_domains: "shop.example",
  tags: "summer",
  from: "2025-01-30T23:00:00.000Z",
  to: "2025-01-31T10:00:00.000Z",
  ts: "2025-01-31T10:00:00.000Z",
  group_by: "offer",
  metrics: "clicks",
  entries: "bad.example/offer",
  ip_allowlist: "203.0.113.0/24",
  postback_ip_allowlist: "203.0.113.0/24",
  company: "Anna Media GmbH",
  rate: "1.0834",
  tracking_link: "https://go.example.com/r/SUMMER/ANNA2025",
  date: "2025-01-31",
  event_code: "default",
  title: "Ten percent off",
  key: "trk_…",
  click_id: "0194f3c2".repeat(4),
  "Affiliate.name": "Anna Media",
  "Affiliate.code": "ANNA2025",
  "Advertiser.name": "Summer Shoes Ltd",
  "Event.name": "Newsletter signup",
  "Event.code": "signup",
  "Creative.name": "Leaderboard",
  "User.name": "Jo Keller",
  "Key.name": "Dashboards",
  "Webhook.name": "CRM",
  "Webhook.url": "https://hooks.shop.example/tracker",
  "Coupon.code": "ANNA10",
};

const REFERENCE = /\/(\w+)$/;

/**
 * An example value for a schema: the schema's own example, or one built from its parts. Bodies (`input`) get the required fields,
 * or the first field if none is required. Answers (`output`) get all fields.
 */
export function exampleOf(schemas: Schemas, schema: Json, io: "input" | "output"): unknown {
  return new Examples(schemas, io).of(schema, "", 0);
}

class Examples {
  readonly #schemas: Schemas;
  readonly #io: "input" | "output";

  constructor(schemas: Schemas, io: "input" | "output") {
    this.#schemas = schemas;
    this.#io = io;
  }

  /** `within`: the name of the field, or of a named record. */
  of(reference: Json, within: string, depth: number): unknown {
    const schema = this.#schemas.resolve(reference);
    const name = REFERENCE.exec(asText(reference["$ref"]))?.[1] ?? within;
    const { examples, const: only, enum: words, default: fallback } = schema;
    if (Array.isArray(examples) && examples.length > 0) return examples[0];
    if (only !== undefined) return only;
    if (Array.isArray(words)) return words[0];
    if (fallback !== undefined && this.#io === "input") return fallback;
    const choices = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(choices)) return this.of(asObject(choices[0]), name, depth);
    return this.#ofType(schema, name, depth);
  }

  #ofType(schema: Json, name: string, depth: number): unknown {
    const { type } = schema;
    switch (Array.isArray(type) ? type[0] : type) {
      case "object":
        return depth > DEPTH_MAX ? {} : this.#object(schema, name, depth);
      case "array":
        return this.#array(schema, name, depth);
      case "integer":
      case "number":
        return Math.max(Number(schema["minimum"] ?? 0), 1);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return schema["format"] === "uuid"
          ? "0b54c2f0-6e5a-4a39-9f0c-0d2f0d6f7f11"
          : (WORDS[name] ?? "");
    }
  }

  /** Leaves out items that are texts without an example, because a made-up text would only be noise. */
  #array(schema: Json, name: string, depth: number): unknown {
    const item = depth > DEPTH_MAX ? "" : this.of(asObject(schema["items"]), name, depth + 1);
    return item === "" ? [] : [item];
  }

  #object(schema: Json, record: string, depth: number): Json {
    const properties = Object.entries(asObject(schema["properties"]));
    const required: unknown = schema["required"];
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    const must = properties.filter(([name]) => this.#io === "output" || needed.has(name));
    const shown = must.length === 0 && depth === 0 ? properties.slice(0, 1) : must;
    return Object.fromEntries(
      shown.map(([name, property]) => {
        const qualified = `${record}.${name}`;
        return [
          name,
          this.of(asObject(property), qualified in WORDS ? qualified : name, depth + 1),
        ];
      }),
    );
  }
}

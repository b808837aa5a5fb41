import { z } from "zod";
import { BatchHead, Watermarks } from "../../schemas/events/click-batch.ts";
import { ClickLookup, ClickLookupReply } from "../../schemas/events/click-lookup.ts";
import { CapsReached, ClicksTaken, ClickTotals } from "../../schemas/events/click-notice.ts";
import { ClickAnswer, ClickQuery } from "../../schemas/events/click-query.ts";
import { ClickRecord, ImpressionRecord } from "../../schemas/events/click-record.ts";
import {
  ConversionCommand,
  ConversionCommandReply,
} from "../../schemas/events/conversion-command.ts";
import { CouponClickOrder, CouponClickTaker } from "../../schemas/events/coupon-click.ts";
import { HtmlPostbacks, HtmlPostbacksRequest } from "../../schemas/events/html-postbacks.ts";
import { InboundCalls, InboundReply } from "../../schemas/events/inbound-call.ts";
import { PostbackReply, PostbackRequest } from "../../schemas/events/postback-request.ts";

/** What one process writes and another reads, perhaps of another release: over NATS, and in journals. */
const MESSAGES = {
  BatchHead,
  CapsReached,
  ClickAnswer,
  ClickLookup,
  ClickLookupReply,
  ClickQuery,
  ClickRecord,
  ClickTotals,
  ClicksTaken,
  ConversionCommand,
  ConversionCommandReply,
  CouponClickOrder,
  CouponClickTaker,
  HtmlPostbacks,
  HtmlPostbacksRequest,
  ImpressionRecord,
  InboundCalls,
  InboundReply,
  PostbackReply,
  PostbackRequest,
  Watermarks,
};

/** JSON Schema, as far as our messages use it. */
export type Form = { readonly [keyword: string]: unknown };

/** The form of each message as its sender writes it. */
export function messageForms(): Record<string, Form> {
  const forms: Record<string, Form> = {};
  for (const [name, schema] of Object.entries(MESSAGES)) {
    const { $schema: _dialect, ...form } = z.toJSONSchema(schema, { io: "input" });
    forms[name] = form;
  }
  return forms;
}

/**
 * Why a process that knows only `released` could not work with messages of `current`, or the other way round. New fields are optional; no
 * field goes away, becomes optional or changes its form. A new kind or value may be read by this release and must not be written before
 * the next one, which a form cannot show.
 */
export function formFaults(released: unknown, current: unknown, path = ""): string[] {
  if (!isForm(released) || !isForm(current)) return same(released, current, path);
  const variants = released["anyOf"] ?? released["oneOf"];
  if (Array.isArray(variants)) return variantFaults(variants, current, path);
  if (Array.isArray(released["enum"])) return valueFaults(released["enum"], current, path);
  const keywords = new Set([...Object.keys(released), ...Object.keys(current)]);
  return [...keywords].flatMap((keyword) => {
    const at = `${path}/${keyword}`;
    const [before, now] = [released[keyword], current[keyword]];
    if (keyword === "properties") return propertyFaults(before, now, path);
    if (keyword === "required") return same(new Set(asList(before)), new Set(asList(now)), at);
    return keyword === "items" ? formFaults(before, now, at) : same(before, now, at);
  });
}

function propertyFaults(before: unknown, now: unknown, path: string): string[] {
  if (!isForm(before) || !isForm(now)) return same(before, now, path);
  return Object.entries(before).flatMap(([name, form]) =>
    formFaults(form, now[name], `${path}.${name}`),
  );
}

function variantFaults(variants: readonly unknown[], current: Form, path: string): string[] {
  const now = asList(current["anyOf"] ?? current["oneOf"]);
  return variants.flatMap((variant, index) =>
    now.some((one) => formFaults(variant, one).length === 0)
      ? []
      : [`${path}: variant ${index + 1} is no longer there as it was`],
  );
}

function valueFaults(values: readonly unknown[], current: Form, path: string): string[] {
  const now = new Set(asList(current["enum"]));
  return values
    .filter((value) => !now.has(value))
    .map((value) => `${path}: ${JSON.stringify(value)} is no longer a value`);
}

function same(before: unknown, now: unknown, path: string): string[] {
  const [was, is] = [textOf(before), textOf(now)];
  return was === is ? [] : [`${path}: was ${was}, is ${is}`];
}

function textOf(value: unknown): string {
  const plain = value instanceof Set ? [...value].map(String).toSorted() : value;
  return JSON.stringify(plain) ?? "nothing";
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isForm(value: unknown): value is Form {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

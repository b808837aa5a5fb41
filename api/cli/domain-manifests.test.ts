import { expect, test } from "vitest";
import { z } from "zod";
import { manifestsOf } from "./domain-manifests.ts";

const OPTIONS = {
  namespace: "tracker",
  issuer: "letsencrypt",
  gateway: "edge",
  service: "tracker-ingress",
  port: 8080,
};

const List = z.object({
  kind: z.literal("List"),
  items: z.array(
    z.looseObject({
      kind: z.string(),
      metadata: z.looseObject({ name: z.string().regex(/^[a-z0-9.-]{1,253}$/) }),
      spec: z.looseObject({
        dnsNames: z.array(z.string()).optional(),
        hostnames: z.array(z.string()).max(16).optional(),
      }),
    }),
  ),
});

test("each domain has one certificate and stands in one route of at most 16 names", () => {
  const hosts = Array.from({ length: 40 }, (_, index) => `go.shop-${index}.example`);
  const { items } = List.parse(manifestsOf(hosts, OPTIONS));
  const names = items.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(new Set(names).size).toBe(names.length);
  expect(items.flatMap(({ spec }) => spec.dnsNames ?? [])).toEqual(hosts);
  expect(items.flatMap(({ spec }) => spec.hostnames ?? [])).toEqual(hosts);
  expect(names.filter((name) => name.startsWith("HTTPRoute"))).toHaveLength(3);
});

test("hosts that differ only in dots and dashes get different certificates", () => {
  const { items } = List.parse(manifestsOf(["go.a-b.example", "go-a.b.example"], OPTIONS));
  const certificates = items.filter(({ kind }) => kind === "Certificate");
  expect(new Set(certificates.map(({ metadata }) => metadata.name)).size).toBe(2);
});

test("without domains the list is empty", () => {
  expect(List.parse(manifestsOf([], OPTIONS)).items).toEqual([]);
});

import { isIP } from "node:net";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./command-error.ts";
import { withDatabase } from "./database.ts";

/** The Gateway API allows so many in one HTTPRoute. */
const HOSTNAMES_PER_ROUTE = 16;
/** Above this, certificates on demand are the better way: deploy/pages/edge.md. */
const DOMAINS_MAX = 5_000;

export type ManifestOptions = {
  readonly namespace: string;
  readonly issuer: string;
  readonly gateway: string;
  readonly service: string;
  readonly port: number;
};

type KubernetesObject = Readonly<Record<string, unknown>>;

export const domainManifests: Command = {
  name: "domains manifests",
  summary: "Kubernetes objects for the tracking domains: Certificate and HTTPRoute",
  options: {
    issuer: { value: "NAME", summary: "ClusterIssuer of cert-manager", isRequired: true },
    gateway: { value: "NAME", summary: "Gateway that serves the domains", isRequired: true },
    namespace: { value: "NAME", summary: "default: tracker" },
    service: { value: "NAME", summary: "service of the ingress; default: tracker-ingress" },
    port: { value: "PORT", summary: "of that service; default: 8080" },
  },
  examples: ["domains manifests --issuer letsencrypt --gateway edge | kubectl apply -f -"],
  notes: `Prints one JSON list of all active domains of all workspaces with the scheme https. Their
certificates are in secrets of the same name. Run it again after a change of domains; with
\`kubectl apply --prune\` removed domains go as well. The pages of deploy/ compare this with
certificates on demand.`,
  run: async (given, environment, terminal) =>
    await withDatabase(environment, async (db) => {
      const hosts = await certifiableHosts(db);
      if (hosts.length >= DOMAINS_MAX)
        terminal.report(`Only the first ${DOMAINS_MAX} domains are printed.`);
      const options: ManifestOptions = {
        namespace: given.text("namespace") ?? "tracker",
        issuer: given.required("issuer"),
        gateway: given.required("gateway"),
        service: given.text("service") ?? "tracker-ingress",
        port: portOf(given.text("port") ?? "8080"),
      };
      return JSON.stringify(manifestsOf(hosts, options), null, 2);
    }),
};

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--port: expected a whole number from 1 to 65535, got "${text}".`);
}

/** A list of objects for `kubectl apply`. */
export function manifestsOf(hosts: readonly string[], options: ManifestOptions): KubernetesObject {
  const routes: KubernetesObject[] = [];
  for (let from = 0; from < hosts.length; from += HOSTNAMES_PER_ROUTE) {
    const name = `tracking-domains-${from / HOSTNAMES_PER_ROUTE + 1}`;
    routes.push(routeOf(name, hosts.slice(from, from + HOSTNAMES_PER_ROUTE), options));
  }
  const certificates = hosts.map((host) => certificateOf(host, options));
  return { apiVersion: "v1", kind: "List", items: [...certificates, ...routes] };
}

const LABELS = { "app.kubernetes.io/part-of": "tracker" } as const;

function certificateOf(host: string, { namespace, issuer }: ManifestOptions): KubernetesObject {
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    // Two hosts never share a name: a name of Kubernetes may have dots.
    metadata: { name: host, namespace, labels: LABELS },
    spec: {
      secretName: host,
      dnsNames: [host],
      issuerRef: { group: "cert-manager.io", kind: "ClusterIssuer", name: issuer },
    },
  };
}

function routeOf(
  name: string,
  hostnames: readonly string[],
  { namespace, gateway, service, port }: ManifestOptions,
): KubernetesObject {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name, namespace, labels: LABELS },
    spec: {
      parentRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: gateway }],
      hostnames,
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          backendRefs: [{ kind: "Service", name: service, port }],
        },
      ],
    },
  };
}

/** Names of active domains for which an authority gives certificates. */
async function certifiableHosts(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ host: string }>({
    name: "certifiable-tracking-hosts",
    text: `select distinct split_part(tracking_host_key(host), ':', 1) as host from tracking_domain
           where status = 'active' and scheme = 'https' order by host limit $1`,
    values: [DOMAINS_MAX],
  });
  return rows.map(({ host }) => host).filter((host) => isIP(host) === 0 && host.includes("."));
}

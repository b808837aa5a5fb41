type Values = Readonly<Record<string, unknown>>;

/** Settings that say something about a server, and the URL without which they have no meaning. */
const OF_SERVER = {
  POSTGRES_URL: ["POSTGRES_PASSWORD"],
  NATS_URL: [
    "NATS_CREDS_FILE",
    "NATS_NKEY_FILE",
    "NATS_USER",
    "NATS_PASSWORD",
    "NATS_CA_FILE",
    "NATS_CERT_FILE",
    "NATS_KEY_FILE",
  ],
  CLICKHOUSE_URL: ["CLICKHOUSE_CA_FILE"],
  OIDC_ISSUER: ["OIDC_CLIENT_SECRET"],
} as const;

/** Settings that are useless without each other. */
const PAIRS = [
  ["NATS_USER", "NATS_PASSWORD"],
  ["NATS_CERT_FILE", "NATS_KEY_FILE"],
  ["OIDC_ISSUER", "OIDC_CLIENT_ID"],
  ["SMTP_URL", "MAIL_FROM"],
] as const;

/** One sentence for each contradiction between settings that are valid by themselves. No sentence contains a value. */
export function contradictionsOf(values: Values): string[] {
  return [
    ...withoutServer(values),
    ...halfPairs(values),
    ...natsContradictions(values),
    ...clickhouseContradictions(values),
    ...passwordContradictions(values),
  ];
}

function withoutServer(values: Values): string[] {
  return Object.entries(OF_SERVER).flatMap(([url, names]) => {
    const set = names.filter((name) => isSet(values, name));
    if (isSet(values, url) || set.length === 0) return [];
    return [`${set.join(", ")}: set, but ${url} is not; expected both or none`];
  });
}

function halfPairs(values: Values): string[] {
  return PAIRS.filter((pair) => pair.filter((name) => isSet(values, name)).length === 1).map(
    (pair) => `${pair.join(" and ")}: only one is set, expected both or none`,
  );
}

function natsContradictions(values: Values): string[] {
  const urls = urlsOf(values, "NATS_URL");
  const faults: string[] = [];
  const logins = new Set(urls.map(({ username, password }) => `${username}:${password}`));
  if (logins.size > 1) {
    faults.push("NATS_URL: its URLs differ in user or password, expected the same in all of them");
  }
  if (new Set(urls.map(({ protocol }) => protocol)).size > 1) {
    faults.push("NATS_URL: it mixes nats:// and tls://, expected tls:// in all of them or in none");
  }
  const hasLogin = urls.some(({ username }) => username !== "");
  const kinds = [
    ...(hasLogin ? ["the user in NATS_URL"] : []),
    ...["NATS_CREDS_FILE", "NATS_NKEY_FILE", "NATS_USER"].filter((name) => isSet(values, name)),
  ];
  if (kinds.length > 1) {
    faults.push(`${kinds.join(" and ")}: each is a way to log in to NATS, expected only one`);
  }
  return faults;
}

function clickhouseContradictions(values: Values): string[] {
  return ["CLICKHOUSE_URL", "CLICKHOUSE_READER_URL"].flatMap((name) => {
    const urls = urlsOf(values, name);
    if (urls.length < 2) return [];
    const faults: string[] = [];
    if (values["CLICKHOUSE_LAYOUT"] !== "cluster")
      faults.push(`${name}: several servers, expected one unless CLICKHOUSE_LAYOUT is cluster`);
    const alike = urls.map(({ protocol, username, password, pathname }) =>
      [protocol, username, password, pathname].join(" "),
    );
    if (new Set(alike).size > 1)
      faults.push(
        `${name}: its URLs differ in scheme, user, password or database, expected the same in all of them`,
      );
    return faults;
  });
}

function passwordContradictions(values: Values): string[] {
  const faults: string[] = [];
  const [postgres] = urlsOf(values, "POSTGRES_URL");
  if (postgres !== undefined && postgres.password !== "" && isSet(values, "POSTGRES_PASSWORD")) {
    faults.push("POSTGRES_PASSWORD and the password in POSTGRES_URL: expected only one of them");
  }
  const [clickhouse] = urlsOf(values, "CLICKHOUSE_URL");
  if (clickhouse?.protocol === "http:" && isSet(values, "CLICKHOUSE_CA_FILE")) {
    faults.push("CLICKHOUSE_CA_FILE: set, but CLICKHOUSE_URL does not begin with https://");
  }
  return faults;
}

function urlsOf(values: Values, name: string): URL[] {
  const text = values[name];
  if (typeof text !== "string") return [];
  return text
    .split(",")
    .filter((one) => URL.canParse(one))
    .map((one) => new URL(one));
}

function isSet(values: Values, name: string): boolean {
  return values[name] !== undefined;
}

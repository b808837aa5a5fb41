import type { NatsSpace } from "./lane-groups.ts";
import { type Permissions, permissionsOf } from "./permissions.ts";

/** The first comment of deploy/servers/nats/permissions.conf. */
export const WRITTEN_BY =
  "Written by `npm run servers:write` from schemas/nats/permissions.ts. Without NATS_PREFIX and LANE_GROUPS.";

/** The text of permissions.conf of a NATS server: a variable for each user, which accounts.conf refers to. `origin` is its first comment. */
export function permissionsFile(space: NatsSpace, origin: string): string {
  const users = Object.entries(permissionsOf(space));
  return `# ${origin}
${users.map(([user, permissions]) => variable(user, permissions)).join("")}`;
}

function variable(user: string, { publish, subscribe, answers }: Permissions): string {
  return `
${user.toUpperCase()}_MAY {
  publish: [${listed(publish)}
  ]
  subscribe: [${listed(subscribe)}
  ]
${answers ? '  allow_responses: { max: 1, expires: "1m" }\n' : ""}}
`;
}

function listed(subjects: readonly string[]): string {
  return subjects.map((subject) => `\n    "${subject}"`).join("");
}

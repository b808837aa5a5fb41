import { type Permissions, permissionsOf } from "../schemas/nats/permissions.ts";

/** The text of `servers/nats/permissions.conf`: a variable for each user, which accounts.conf refers to. */
export function natsPermissions(): string {
  const users = Object.entries(permissionsOf(""));
  return `# Written by \`npm run servers:write\` from schemas/nats/permissions.ts. Without NATS_PREFIX.
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

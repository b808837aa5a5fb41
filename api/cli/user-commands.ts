import { users } from "../catalog/management/users.ts";
import { presentFields } from "../http/patch.ts";
import type { Command } from "./command.ts";
import { IN_WORKSPACE, JSON_OUTPUT, SET_STATUS } from "./options.ts";
import { call, inWorkspace, listAll } from "./session.ts";
import { table } from "./table.ts";

const list: Command = {
  name: "user list",
  summary: "staff members, who can be managers of accounts",
  options: { ...IN_WORKSPACE, ...JSON_OUTPUT },
  examples: ["user list --workspace acme"],
  run: async (given, environment) =>
    await inWorkspace({ command: "user list", given, environment }, async (session) => {
      const found = await listAll(session, users.list);
      if (given.has("json")) return JSON.stringify(found, null, 2);
      return table(
        [
          { title: "ID", value: ({ id }) => id },
          { title: "NAME", value: (user) => user["name"] },
          { title: "EMAIL", value: (user) => user["email"] },
          { title: "STATUS", value: (user) => user["status"] },
          { title: "CREATED", value: (user) => user["created_at"] },
        ],
        found,
        "There is no user. `user create` creates one.",
      );
    }),
};

const create: Command = {
  name: "user create",
  summary: "adds a staff member",
  options: {
    ...IN_WORKSPACE,
    name: { value: "N", summary: "of the person", isRequired: true },
    email: { value: "ADDRESS", summary: "address of the person" },
  },
  examples: ['user create --workspace acme --name "Jo Doe" --email jo@acme.example'],
  run: async (given, environment) =>
    await inWorkspace({ command: "user create", given, environment }, async (session) => {
      const body = presentFields({ name: given.required("name"), email: given.text("email") });
      const { id } = await call(session, users.create, { body });
      return `User ${id} is created.`;
    }),
};

const setStatus: Command = {
  name: "user set-status",
  operand: { name: "ID", summary: "of the user, as `user list` shows it" },
  summary: "switches a user off or on",
  options: { ...IN_WORKSPACE, ...SET_STATUS },
  examples: ["user set-status 3 --workspace acme --set inactive"],
  run: async (given, environment) =>
    await inWorkspace({ command: "user set-status", given, environment }, async (session) => {
      const status = given.required("set");
      await call(session, users.update, { path: { id: given.operand }, body: { status } });
      return `User ${given.operand} is ${status}.`;
    }),
};

export const userCommands: readonly Command[] = [list, create, setStatus];

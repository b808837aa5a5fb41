import { read } from "./api-client.ts";
import type { LoadChoices } from "./choices.ts";

const CHOICES_MAX = 200;

/** Users of the workspace who may look after partners and advertisers. */
export const userChoices: LoadChoices = {
  name: "users-by-id",
  permission: "affiliates.read",
  load: async ({ api }, sought, signal) => {
    const query = { limit: CHOICES_MAX, status: "active" } as const;
    const { data, next_cursor: next } = await read(
      api.GET("/users", { params: { query }, signal }),
    );
    const words = sought.toLowerCase();
    return {
      choices: data
        .filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(words))
        .map(({ id, name, email }) => [String(id), name === "" ? email : name] as const),
      isWhole: next === null,
    };
  },
  nameOf: async ({ api }, id, signal) => {
    const params = { path: { id: Number(id) } };
    return (await read(api.GET("/users/{id}", { params, signal }))).data.name;
  },
};

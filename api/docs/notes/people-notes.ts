import type { Notes } from "./notes.ts";

/** People, their sessions and their preferences. */
export const PEOPLE_NOTES: Notes = {
  person: "Who has signed in",
  session: "The session of this request",
  password: "12 to 128 characters",
  locale: "BCP 47, such as de-AT",
  theme: "Colours of the console",
  single_key_shortcuts: "Whether single keys are shortcuts",
  first_steps_hidden: "Ids of the workspaces whose first steps the dashboard no longer shows",
  list_columns: "Columns of the lists whose columns the person has chosen",
  table_density: "How high the rows of tables are",
  user_id: "The same human in `GET /users`",
  "Member.status": "An inactive member has no access to the workspace",
  "updateMember.status": "An inactive member has no access to the workspace",
  "OwnSession.workspace.status": "Nobody may use an inactive workspace",
  "OwnMembership.workspace.status": "Nobody may use an inactive workspace",
};

/** Characters of what the staff tells a partner about a decision. The API refuses more, and the console's field takes no more. */
export const REPLY_MAX = 500;

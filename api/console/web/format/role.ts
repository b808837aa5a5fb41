/** What people call the roles. */
export const ROLE_WORDS = {
  admin: "Admin",
  analyst: "Analyst",
  partner: "Partner",
  advertiser: "Advertiser",
} as const;

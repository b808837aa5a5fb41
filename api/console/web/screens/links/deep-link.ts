/** A link that leads to a page of its own choice. Macros are not replaced in it. */
export function withDeepLink(link: string, page: string): string {
  if (page === "") return link;
  return `${link}${link.includes("?") ? "&" : "?"}url=${encodeURIComponent(page)}`;
}

const LENGTH_MAX = 4_096;

/** Why a page cannot be linked to. Whether its host is allowed decides the tracking domain, which alone knows the list. */
export function deepLinkFault(typed: string): string | undefined {
  const page = typed.trim();
  if (page === "") return undefined;
  if (!/^https?:\/\//i.test(page) || !URL.canParse(page) || /[\s\\]/.test(page))
    return "Start with https://";
  if (page.length > LENGTH_MAX) return `Use at most ${LENGTH_MAX} characters`;
  const { username, password } = new URL(page);
  return username + password === "" ? undefined : "Leave out the user name and password";
}

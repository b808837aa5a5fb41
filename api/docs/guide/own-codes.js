/*
 * Fills the reader's own codes into the examples. The reader types an API key; it stays in a variable of this page and is sent only
 * to the API of this origin, in the Authorization header. Codes that are no secret are kept for the other pages of this tab.
 */
const API = "/api/v1";
const STORED = "tracker-guide-codes";
/** Kept for this tab. The token is not among them. */
const PUBLIC_VALUES = ["tracking_url", "offer", "sale_offer", "partner", "smart_link"];
const LIST_MAX = 200;

/** The marks of the page, with the text that the page came with. */
const marks = [...document.querySelectorAll("[data-own]")].map((place) => ({
  place,
  name: place.dataset.own,
  original: place.textContent,
}));

/** Shows a value wherever the page names it; the page's own text where there is none. */
function show(values) {
  for (const { place, name, original } of marks) {
    const value = values[name];
    place.textContent = value || original;
    place.classList.toggle("filled", Boolean(value));
  }
}

function readStored() {
  try {
    const values = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
    return Object.fromEntries(
      PUBLIC_VALUES.map((name) => [name, values?.[name]]).filter(
        ([, value]) => typeof value === "string",
      ),
    );
  } catch {
    // Storage is blocked or holds something else: the page shows the demo's codes.
    return {};
  }
}

function store(values) {
  const kept = Object.fromEntries(PUBLIC_VALUES.map((name) => [name, values[name]]));
  try {
    sessionStorage.setItem(STORED, JSON.stringify(kept));
  } catch {
    // Storage is blocked: the codes are shown on this page only.
  }
}

function forgetStored() {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // Nothing was stored.
  }
}

/** GET of the API. Undefined if this role may not ask for it or there is none. */
async function get(path, { key, signal }) {
  const answer = await fetch(`${API}${path}`, {
    signal,
    headers: { authorization: `Bearer ${key}` },
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  if ([403, 404, 409].includes(answer.status)) return undefined;
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error?.message ?? `the API answered ${answer.status}`);
  return body.data;
}

/** What the key may see: its role, offers, partners, token and smart link. */
async function readAccount(caller) {
  const me = await get("/me", caller);
  const { role } = me.key;
  const isStaff = role === "admin" || role === "analyst";
  const [offers, partners, smartLinks, owner] = await Promise.all([
    get(`/offers?status=active&limit=${LIST_MAX}`, caller),
    isStaff ? get(`/affiliates?status=active&limit=${LIST_MAX}`, caller) : undefined,
    isStaff ? get("/smart-links?status=active&limit=1", caller) : undefined,
    tokenOwner(role, caller),
  ]);
  return {
    key: caller.key,
    role,
    workspace: me.workspace.name,
    offers: (offers ?? []).filter(({ can_run: canRun }) => canRun !== false).toSorted(byOpenness),
    partners: (partners ?? (me.affiliate === null ? [] : [me.affiliate])).toSorted(byAge),
    smartLink: smartLinks?.[0]?.code,
    token: owner?.postback_token,
  };
}

const byAge = (one, other) => one.id - other.id;

/** Offers that every partner may run come first, so that the first example works. */
function byOpenness(one, other) {
  return (
    Number(other.visibility === "public") - Number(one.visibility === "public") || byAge(one, other)
  );
}

/** The record with the token for postbacks, for the roles that may see one. */
async function tokenOwner(role, caller) {
  if (role === "admin") return await get("/workspace", caller);
  return role === "advertiser" ? await get("/me/postback-token", caller) : undefined;
}

/** The origin of the partner's link to the offer, and why it would not work. Advertisers may not ask for it. */
async function findLink({ key, role }, { offer, partner, signal }) {
  if (offer === "" || partner === "" || role === "advertiser") return undefined;
  const query = new URLSearchParams({ offer, affiliate: partner });
  const link = await get(`/tracking-link?${query}`, { key, signal });
  if (link === undefined) return undefined;
  const warnings = link.warnings.filter((text) => text.includes("fallback"));
  return { origin: new URL(link.url).origin, warnings };
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function choice(text, records) {
  const options = records.map(({ code, name }) =>
    element("option", { value: code, textContent: `${code} · ${name}` }),
  );
  const select = element("select", {}, ...options);
  return { select, label: element("label", {}, text, select) };
}

/** The form, which exists only where this script runs. Its two choices know the key until the reader forgets it or leaves the page. */
class OwnCodesForm {
  /** Ends the step that asks the API: an answer that comes after the reader has chosen something else must change nothing. */
  #step = new AbortController();
  #input = element("input", {
    type: "password",
    autocomplete: "off",
    spellcheck: false,
    required: true,
    placeholder: "trk_live_…",
  });
  #forget = element("button", { type: "button", textContent: "Forget" });
  #fields = element("div", { className: "own-codes-fields" });
  #status = element("p", { role: "status" });

  constructor() {
    this.#forget.addEventListener("click", () => this.#startAgain());
    this.#forget.hidden = Object.keys(readStored()).length === 0;
    this.#ask("The key stays in this page's memory and is sent only to the API of this address.");
  }

  build() {
    const form = element("form", {}, this.#fields, this.#status);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#attempt((signal) => this.#read(this.#input.value.trim(), signal));
    });
    const summary = element("summary", { textContent: "Show your own codes in the examples" });
    return element("details", { className: "own-codes" }, summary, form);
  }

  #ask(text) {
    const use = element("button", { textContent: "Fill in" });
    this.#fields.replaceChildren(element("label", {}, "API key", this.#input), use, this.#forget);
    this.#status.textContent = text;
  }

  #startAgain() {
    this.#step.abort();
    this.#input.value = "";
    this.#forget.hidden = true;
    forgetStored();
    show({});
    this.#ask("The examples show the codes of the demo again.");
  }

  /** Runs a step that asks the API in place of the one before, and shows what went wrong. */
  #attempt(step) {
    this.#step.abort();
    this.#step = new AbortController();
    const { signal } = this.#step;
    this.#status.textContent = "Reading your codes …";
    step(signal).catch((error) => {
      if (!signal.aborted) this.#status.textContent = `This did not work: ${error.message}`;
    });
  }

  async #read(key, signal) {
    const account = await readAccount({ key, signal });
    signal.throwIfAborted();
    this.#input.value = "";
    const offers = choice("Offer", account.offers);
    const partners = choice("Partner", account.partners);
    const fill = (fillSignal) =>
      this.#fill(account, {
        offer: offers.select.value,
        partner: partners.select.value,
        signal: fillSignal,
      });
    const shown = [offers, partners].filter(({ select }) => select.options.length > 0);
    for (const { select } of shown) select.addEventListener("change", () => this.#attempt(fill));
    this.#forget.hidden = false;
    this.#fields.replaceChildren(...shown.map(({ label }) => label), this.#forget);
    await fill(signal);
  }

  async #fill(account, { offer, partner, signal }) {
    const link = await findLink(account, { offer, partner, signal });
    signal.throwIfAborted();
    const sale = account.offers.find(
      ({ payout_type: payout, revenue_type: revenue }) => payout === "cps" || revenue === "rps",
    );
    const values = {
      offer,
      partner,
      sale_offer: sale?.code,
      smart_link: account.smartLink,
      tracking_url: link?.origin,
    };
    store(values);
    show({ ...values, token: account.token });
    this.#status.textContent = [filledText(account), ...(link?.warnings ?? [])].join(" ");
  }
}

function filledText({ role, workspace, token, offers }) {
  const parts = [`${workspace}, ${role} key.`];
  if (offers.length === 0) parts.push("This key sees no active offer, so the demo's code stays.");
  parts.push(
    token === undefined
      ? "This key may not see the postback token: set it as $POSTBACK_TOKEN."
      : "The examples of this page contain your postback token: do not publish them.",
  );
  return parts.join(" ");
}

show(readStored());
document.querySelector("h1")?.after(new OwnCodesForm().build());

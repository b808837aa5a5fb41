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
const marks = [...document.querySelectorAll("[data-own]")].map((element) => ({
  element,
  name: element.dataset.own,
  original: element.textContent,
}));

/** Shows a value wherever the page names it; the page's own text where there is none. */
function show(values) {
  for (const { element, name, original } of marks) {
    const value = values[name];
    element.textContent = value || original;
    element.classList.toggle("filled", Boolean(value));
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
async function get(path, key) {
  const answer = await fetch(`${API}${path}`, {
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
async function readAccount(key) {
  const me = await get("/me", key);
  const { role } = me.key;
  const isStaff = role === "admin" || role === "analyst";
  const [offers, partners, smartLinks, owner] = await Promise.all([
    get(`/offers?status=active&limit=${LIST_MAX}`, key),
    isStaff ? get(`/affiliates?status=active&limit=${LIST_MAX}`, key) : undefined,
    isStaff ? get("/smart-links?status=active&limit=1", key) : undefined,
    tokenOwner(role, key),
  ]);
  return {
    key,
    role,
    workspace: me.workspace.name,
    offers: (offers ?? []).filter(({ can_run: canRun }) => canRun !== false),
    partners: partners ?? (me.affiliate === null ? [] : [me.affiliate]),
    smartLink: smartLinks?.[0]?.code,
    token: owner?.postback_token,
  };
}

/** The record with the token for postbacks, for the roles that may see one. */
async function tokenOwner(role, key) {
  if (role === "admin") return await get("/workspace", key);
  return role === "advertiser" ? await get("/me/postback-token", key) : undefined;
}

/** The origin of the partner's link to the offer. Advertisers may not ask for it. */
async function trackingOrigin({ key, role }, offer, partner) {
  if (offer === undefined || partner === undefined || role === "advertiser") return undefined;
  const query = new URLSearchParams({ offer, affiliate: partner });
  const link = await get(`/tracking-link?${query}`, key);
  return link === undefined ? undefined : new URL(link.url).origin;
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function choice(text, records, onChange) {
  const options = records.map(({ code, name }) =>
    element("option", { value: code, textContent: `${code} · ${name}` }),
  );
  const select = element("select", { onchange: onChange }, ...options);
  return { select, label: element("label", {}, text, select) };
}

/** The form, which exists only where this script runs. */
function buildForm() {
  const input = element("input", {
    type: "password",
    autocomplete: "off",
    spellcheck: false,
    required: true,
    placeholder: "trk_live_…",
  });
  const fields = element("div", { className: "fields" });
  const status = element("p", { role: "status" });
  const forget = element("button", {
    type: "button",
    textContent: "Forget",
    hidden: Object.keys(readStored()).length === 0,
  });
  const use = element("button", { textContent: "Fill in" });
  const form = element("form", {}, fields, status);
  const startFields = [element("label", {}, "API key", input), use, forget];
  fields.append(...startFields);
  status.textContent =
    "The key stays in this page's memory and is sent only to the API of this address.";

  const startAgain = () => {
    input.value = "";
    forgetStored();
    show({});
    fields.replaceChildren(...startFields);
    status.textContent = "The examples show the codes of the demo again.";
    forget.hidden = true;
  };
  forget.addEventListener("click", startAgain);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    status.textContent = "Reading your codes …";
    void fill(input.value.trim()).catch((error) => {
      status.textContent = `This did not work: ${error.message}`;
    });
  });

  async function fill(key) {
    const account = await readAccount(key);
    input.value = "";
    const offers = choice("Offer", account.offers, () => void update());
    const partners = choice("Partner", account.partners, () => void update());
    const shown = [offers, partners].filter(({ select }) => select.options.length > 0);
    fields.replaceChildren(...shown.map(({ label }) => label), forget);
    forget.hidden = false;
    const sale = account.offers.find(
      ({ payout_type: payout, revenue_type: revenue }) => payout === "cps" || revenue === "rps",
    );
    async function update() {
      const offer = offers.select.value || undefined;
      const partner = partners.select.value || undefined;
      const values = {
        offer,
        partner,
        sale_offer: sale?.code,
        smart_link: account.smartLink,
        tracking_url: await trackingOrigin(account, offer, partner),
      };
      store(values);
      show({ ...values, token: account.token });
      status.textContent = filledText(account);
    }
    await update();
  }
  return element(
    "details",
    { className: "own-codes" },
    element("summary", { textContent: "Show your own codes in the examples" }),
    form,
  );
}

function filledText({ role, workspace, token, offers }) {
  const parts = [`${workspace}, ${role} key.`];
  if (offers.length === 0) parts.push("This key sees no active offer, so the demo's code stays.");
  if (token === undefined)
    parts.push("This key may not see the postback token: set it as $POSTBACK_TOKEN.");
  else parts.push("The examples of this page contain your postback token: do not publish them.");
  return parts.join(" ");
}

show(readStored());
document.querySelector("h1")?.after(buildForm());

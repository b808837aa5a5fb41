import { NO_STORE } from "../answers.ts";
import { trackingHostOf } from "../request/visit.ts";
import type { Route } from "../route.ts";

/**
 * `GET /px.js` (G158): a script that fires the pixel with the parameters of its own URL and, when they name no click, with the
 * page's cookie. The answer is always 200, because the pixel reports the result. With `html=1` the script fires the iframe pixel
 * instead of the image: the owner of the page decides whether it shows partners' HTML.
 */
export const pixelScriptRoute: Route = ({ query, headers }) => ({
  answer: {
    status: 200,
    headers: [
      ["Content-Type", "text/javascript; charset=utf-8"],
      NO_STORE,
      ["X-Content-Type-Options", "nosniff"],
      ["Cross-Origin-Resource-Policy", "cross-origin"],
    ],
    body: pixelScript(trackingHostOf(headers.host), query),
  },
});

/** ES5 for browsers. Both texts are untrusted and become string literals only. */
export function pixelScript(host: string, query: string): string {
  return `(function (document) {
  var script = document.currentScript;
  var own = script ? /^(https?:\\/\\/[^\\/?#]+)\\/px\\.js(?:[?#]|$)/.exec(script.src || "") : null;
  // Without a script element of its own, for example in a bundle, the page's scheme is used.
  var origin = own ? own[1] : "//" + ${literal(host)};
  var query = ${literal(query)};
  var cookie = "";
  try {
    cookie = document.cookie;
  } catch (error) {
    // Cookies are blocked: the parameters must name the click.
  }
  if (!/(^|&)(click_id|transaction_id|tid|gclid|gbraid|wbraid|msclkid)=[^&]/.test(query)) {
    var id = /(?:^|;\\s*)trk_cid=([0-9a-fA-F]{32})(?:;|$)/.exec(cookie);
    // First, because an empty parameter of the same name would win.
    if (id) query = "click_id=" + id[1] + (query === "" ? "" : "&" + query);
  }
  var fired = "?" + query + (query === "" ? "" : "&") + "js=1&r=" + Math.random().toString(36).slice(2);
  if (!/(^|&)html=1(&|$)/.test(query)) {
    new Image().src = origin + "/px" + fired;
    return;
  }
  // Partners' HTML runs in a frame that reaches nothing of this page.
  var frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.display = "none";
  frame.src = origin + "/px.html" + fired;
  (document.body || document.documentElement).appendChild(frame);
})(document);
`;
}

/** JSON is JavaScript except for two line separators; "<" could end a script element that the text is pasted into. */
function literal(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

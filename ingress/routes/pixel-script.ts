import { NO_STORE } from "../answers.ts";
import { trackingHostOf } from "../request/visit.ts";
import type { Route } from "../route.ts";

/**
 * `GET /px.js` (G158): a script that fires the pixel with the parameters of its own URL and, when they name no click, with the
 * page's cookie. Always 200: what comes of it is the pixel's to tell. With `html=1` it fires the iframe pixel instead of the image,
 * because whose page it is decides whether partners' HTML is carried by it.
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

/** ES5 for browsers. Both texts come from anybody and become string literals, nothing else. */
export function pixelScript(host: string, query: string): string {
  return `(function (document) {
  var script = document.currentScript;
  var own = script ? /^(https?:\\/\\/[^\\/?#]+)\\/px\\.js(?:[?#]|$)/.exec(script.src || "") : null;
  // Without a script element of its own, as when a bundle evaluates it, the page's scheme is taken.
  var origin = own ? own[1] : "//" + ${literal(host)};
  var query = ${literal(query)};
  var cookie = "";
  try {
    cookie = document.cookie;
  } catch (error) {
    // Blocked: the click has to be in the parameters.
  }
  if (!/(^|&)(click_id|transaction_id|tid|gclid|gbraid|wbraid|msclkid)=[^&]/.test(query)) {
    var id = /(?:^|;\\s*)trk_cid=([0-9a-fA-F]{32})(?:;|$)/.exec(cookie);
    // Before the others, because an empty one among them would win.
    if (id) query = "click_id=" + id[1] + (query === "" ? "" : "&" + query);
  }
  var fired = "?" + query + (query === "" ? "" : "&") + "js=1&r=" + Math.random().toString(36).slice(2);
  if (!/(^|&)html=1(&|$)/.test(query)) {
    new Image().src = origin + "/px" + fired;
    return;
  }
  // Partners' HTML is carried by a frame that reaches nothing of this page.
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

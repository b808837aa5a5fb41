/*
 * Landing-page script: finds the click that brought the visitor, decorates links with its id and reports conversions.
 * ES5, no dependencies. Nothing it does may disturb the page: every entry from outside is guarded.
 */
(function (window, document) {
  "use strict";

  var queue = window.Tracker;
  if (queue && queue.loaded) return;

  var ID = /^[0-9a-f]{32}$/i;
  var ID_PARAMS = ["click_id", "transaction_id", "tid"];
  var AD_CLICK_IDS = ["gclid", "gbraid", "wbraid"];
  var AD_CLICK_ID_LENGTH_MAX = 512;
  var MACRO = /\{click_id\}|%7Bclick_id%7D/gi;
  var UNTOUCHED_LINK = /^(javascript|mailto|tel):/i;
  var DAY_SECONDS = 86400;
  var MAX_AGE_SECONDS = 90 * DAY_SECONDS;
  var REQUEST_TIMEOUT_MS = 5000;
  var ANCESTORS_MAX = 200;
  // As the service reads them; the last one is refused always.
  var AMOUNT = /^\s*\+?(\d{1,14}(\.\d{0,30})?|\.\d{1,30})\s*$/;
  var FORMS = {
    amount: AMOUNT,
    sale_amount: AMOUNT,
    revenue: AMOUNT,
    status: /^\s*(approved|pending|rejected)\s*$/,
    currency: /^\s*[a-z]{3}\s*$/i,
    conversion_id: /^$/
  };
  // Parameters that a page must not set.
  var NOT_SENT = { click_id: 1, token: 1 };

  var script = findScript();
  var origin = originOf(script);
  var optionsOfUrl = queryOf(((script !== null && script.src) || "").replace(/^[^?]*|#.*$/g, ""));
  var offer = option("offer") || "";
  var aff = option("aff") || "";
  var organic = option("organic");
  var isOrganic = organic !== undefined && !/^(false|0)$/i.test(organic);
  var clickId = null;
  var lastError = null;
  var isResolved = false;
  var waiting = [];
  var cookieDomain;
  // Ad-platform ids that were looked up, and replaced click ids.
  var asked = {};
  var replaced = [];

  var api = {
    loaded: true,
    clickId: function () {
      return clickId;
    },
    error: function () {
      return lastError;
    },
    conversion: function (params) {
      whenResolved(function () {
        sendConversion(typeof params === "object" && params !== null ? params : {});
      });
    },
    push: function () {
      for (var e = 0; e < arguments.length; e += 1) guard(run, arguments[e]);
    }
  };
  window.Tracker = api;

  for (var q = 0; queue && q < queue.length; q += 1) guard(run, queue[q]);
  guard(listen);
  guard(resolve);
  guard(watchAddress);

  /** A queued call: a function of the click id, or the name of a method and its arguments. */
  function run(entry) {
    if (typeof entry === "function") {
      whenResolved(function () {
        entry(clickId);
      });
    } else if (entry && has(api, entry[0]) && typeof api[entry[0]] === "function") {
      api[entry[0]].apply(api, Array.isArray(entry[1]) ? entry[1] : [entry[1]]);
    }
  }

  // Finding the click, in the order of the contract: the page's URL, an ad-platform id, a stored one, organic, direct.

  function resolve() {
    var stored = readStored("trk_cid");
    var given = idInAddress();
    if (given !== null) finish(given);
    else if (!askByAdClickId(stored)) {
      if (stored !== null) finish(stored);
      else askForNewClick();
    }
  }

  function idInAddress() {
    return idIn(queryOf(window.location.search)) || idIn(queryOf(hashQuery()));
  }

  /** The query behind `#`: `#/p?a=1`, or `#a=1`. */
  function hashQuery() {
    var hash = window.location.hash.replace(/^#/, "");
    var question = hash.indexOf("?");
    return question < 0 ? hash : hash.slice(question);
  }

  function idIn(query) {
    var names = [option("param") || ""].concat(ID_PARAMS);
    for (var n = 0; n < names.length; n += 1) {
      var value = names[n] !== "" && has(query, names[n]) ? query[names[n]] : "";
      if (ID.test(value)) return value.toLowerCase();
    }
    return null;
  }

  /** False without an ad-platform id that was not looked up before. */
  function askByAdClickId(stored) {
    var search = queryOf(window.location.search);
    var hash = queryOf(hashQuery());
    var body = pageFacts();
    var isAsked = false;
    for (var n = 0; n < AD_CLICK_IDS.length; n += 1) {
      var name = AD_CLICK_IDS[n];
      var value = (has(search, name) && search[name]) || (has(hash, name) && hash[name]) || "";
      if (value !== "" && value.length <= AD_CLICK_ID_LENGTH_MAX) {
        body[name] = value;
        isAsked = isAsked || !has(asked, value);
        asked[value] = 1;
      }
    }
    if (!isAsked) return false;
    // With a stored id no new direct click is wanted: without an offer none is made.
    if (stored === null) addOffer(body);
    ask(body, function (answer) {
      if (answer.id !== null) arrive(answer.id);
      else if (!isResolved && stored === null && answer.isRefused && isOrganic) askForNewClick();
      else finish(stored);
    });
    return true;
  }

  /** An address may change without loading. */
  function watchAddress() {
    watchCalls("pushState");
    watchCalls("replaceState");
    window.addEventListener("popstate", guarded(readAddress));
    window.addEventListener("hashchange", guarded(readAddress));
  }

  function watchCalls(name) {
    var change = window.history[name];
    window.history[name] = function () {
      var result = change.apply(this, arguments);
      guard(readAddress);
      return result;
    };
  }

  function readAddress() {
    var given = idInAddress();
    if (given !== null) arrive(given);
    else askByAdClickId(isResolved ? clickId : readStored("trk_cid"));
  }

  /** After the page had its answer, another id replaces it from now on. */
  function arrive(found) {
    if (!isResolved) finish(found);
    else if (found !== clickId) {
      replaced.push(clickId);
      keep(found);
    }
  }

  function askForNewClick() {
    if (!isOrganic) {
      askForDirectClick();
      return;
    }
    var body = addOffer(pageFacts());
    var source = referrerSource();
    // The partner of an organic click is the workspace's own.
    delete body.aff;
    body.organic = true;
    body.sub1 = source.platform;
    body.sub2 = source.host;
    body.sub3 = window.location.pathname;
    ask(body, function (answer) {
      // Refused: the workspace has no organic partner.
      if (answer.isRefused) askForDirectClick();
      else finish(answer.id);
    });
  }

  function askForDirectClick() {
    if (offer === "") finish(null);
    else
      ask(addOffer(pageFacts()), function (answer) {
        finish(answer.id);
      });
  }

  function pageFacts() {
    return { url: window.location.href, referrer: document.referrer || "" };
  }

  function addOffer(body) {
    if (offer !== "") body.offer = offer;
    if (aff !== "") body.aff = aff;
    return body;
  }

  function referrerSource() {
    var host = hostOf(document.referrer);
    if (host === "" || host === window.location.hostname.toLowerCase())
      return { platform: "direct", host: "" };
    var platform = "referral";
    if (/(^|\.)google\.[a-z]{2,3}(\.[a-z]{2})?$/.test(host)) platform = "google";
    else if (/(^|\.)bing\.com$/.test(host)) platform = "bing";
    else if (/(^|\.)(facebook\.com|fb\.com|fb\.me)$/.test(host)) platform = "facebook";
    else if (/(^|\.)(x\.com|twitter\.com|t\.co)$/.test(host)) platform = "x";
    return { platform: platform, host: host };
  }

  /**
   * Calls back once, with the click's id or null, and whether the service refused. An outage is not a refusal: a new click for a
   * visitor whose click cannot be looked up now would credit the wrong partner.
   */
  function ask(body, done) {
    var request;
    var isDone = false;
    var timer = setTimeout(function () {
      end({ id: null }, "no answer within 5 seconds");
      if (request) request.abort();
    }, REQUEST_TIMEOUT_MS);

    function end(answer, failure) {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (failure) fail(failure);
      guard(done, answer);
    }

    function read() {
      if (request.readyState !== 4 || isDone) return;
      var status = request.status;
      var answer = parseJson(request.responseText) || {};
      if (status === 200 && ID.test(answer.click_id)) end({ id: answer.click_id.toLowerCase() });
      else
        end(
          { id: null, isRefused: status >= 400 && status < 500 },
          status === 0 ? "request failed" : String(answer.error || "HTTP " + status)
        );
    }

    try {
      request = new XMLHttpRequest();
      request.open("POST", origin + "/lp", true);
      // Plain text needs no preflight.
      request.setRequestHeader("Content-Type", "text/plain");
      request.onreadystatechange = read;
      request.send(JSON.stringify(body));
    } catch (error) {
      end({ id: null }, textOf(error));
    }
  }

  function finish(found) {
    if (isResolved) return;
    isResolved = true;
    if (found !== null) keep(found);
    var callbacks = waiting;
    waiting = [];
    for (var c = 0; c < callbacks.length; c += 1) guard(callbacks[c]);
  }

  function keep(found) {
    clickId = found;
    // A stored id keeps its age.
    if (found !== readStored("trk_cid")) store("trk_cid", found);
    if (readStored("trk_fcid") === null) store("trk_fcid", found);
    guard(decorateAll);
    if (document.readyState === "loading")
      document.addEventListener("DOMContentLoaded", guarded(decorateAll));
  }

  function whenResolved(callback) {
    if (isResolved) guard(callback);
    else waiting.push(callback);
  }

  // Conversions: an image request, so that it works on every page and survives most page changes.

  function sendConversion(params) {
    var own = ownParams(params);
    var pairs = [];
    var name;
    for (name in own) if (has(own, name)) pairs.push(name + "=" + encoded(own[name]));
    for (name in params) {
      if (!has(own, name) && NOT_SENT[name] !== 1 && isGiven(params, [name])) {
        // The click determines the offer; another one would be refused.
        if (clickId !== null && (name === "offer" || name === "offer_id")) continue;
        pairs.push(encoded(name) + "=" + encoded(textOfValue(params[name])));
      }
    }
    var fault = knownFault(params);
    if (fault !== null) fail("conversion will be refused: " + fault);
    var image = new Image();
    image.onerror = function () {
      fail("conversion not sent");
    };
    image.src = origin + "/px?" + pairs.join("&");
  }

  /** The parameters that the script adds to the page's own. */
  function ownParams(params) {
    var own = { js: 1, r: nowMs().toString(36) + Math.random().toString(36).slice(2) };
    var first = readStored("trk_fcid");
    if (clickId !== null) {
      own.click_id = clickId;
      if (first !== null && first !== clickId) own.first_click_id = first;
    } else if (offer !== "" && !isGiven(params, ["offer", "offer_id"])) own.offer = offer;
    if (aff !== "" && !isGiven(params, ["aff", "aff_id", "affiliate_id"])) own.aff = aff;
    return own;
  }

  function isGiven(params, names) {
    for (var n = 0; n < names.length; n += 1) {
      var value = has(params, names[n]) ? params[names[n]] : null;
      if (value !== null && !/^(undefined|object|function|symbol)$/.test(typeof value)) return true;
    }
    return false;
  }

  /** What the service will refuse, as far as the page can know: it cannot read the answer of the image. */
  function knownFault(params) {
    for (var name in FORMS) {
      if (!has(FORMS, name) || !isGiven(params, [name])) continue;
      var text = textOfValue(params[name]);
      if (/\S/.test(text) && !FORMS[name].test(text)) return name + "=" + text;
    }
    return null;
  }

  /** A remainder such as 5.55e-17 without its exponent, which the service refuses. */
  function textOfValue(value) {
    var text = String(value);
    return typeof value === "number" && /e-/.test(text) ? value.toFixed(20) : text;
  }

  function encoded(value) {
    // Half a surrogate pair cannot be encoded, and must not cost the conversion.
    try {
      return encodeURIComponent(value);
    } catch (error) {
      return encodeURIComponent(String(value).replace(/[\ud800-\udfff]/g, "\ufffd"));
    }
  }

  // Links, and the end of the page.

  function listen() {
    var decorateClicked = guarded(function (event) {
      if (clickId === null) return;
      // A link may lie in a shadow tree, which hides it from the event's target.
      var path = event.composedPath ? event.composedPath() : [event.target];
      var node = path[0];
      for (var a = 0; node && a < ANCESTORS_MAX; a += 1) {
        if (/^(a|area)$/i.test(node.nodeName)) {
          decorate(node);
          return;
        }
        node = path.length > 1 ? path[a + 1] : node.parentNode;
      }
    });
    // Capturing, so that links which a page adds or changes later are ready before they are followed.
    document.addEventListener("click", decorateClicked, true);
    document.addEventListener("auxclick", decorateClicked, true);
    document.addEventListener("contextmenu", decorateClicked, true);
    // A conversion that still waits for the id is sent with the stored one, if any.
    window.addEventListener(
      "pagehide",
      guarded(function () {
        if (waiting.length > 0) finish(readStored("trk_cid"));
      })
    );
  }

  function decorateAll() {
    for (var l = 0; l < document.links.length; l += 1) decorate(document.links[l]);
  }

  function decorate(link) {
    var href = link.getAttribute("href");
    // Browsers ignore control characters and spaces in a scheme.
    if (href === null || UNTOUCHED_LINK.test(href.replace(/[\u0000-\u0020]/g, ""))) return;
    var decorated = href.replace(MACRO, clickId);
    for (var r = 0; r < replaced.length; r += 1)
      if (replaced[r]) decorated = decorated.split(replaced[r]).join(clickId);
    if (link.hasAttribute("data-trk"))
      decorated = withParam(decorated, link.getAttribute("data-trk") || "click_id");
    if (decorated !== href) link.setAttribute("href", decorated);
  }

  function withParam(href, name) {
    var hash = href.indexOf("#");
    var url = hash < 0 ? href : href.slice(0, hash);
    // A link to a place on the same page keeps the page's own query.
    if (url === "") url = window.location.search;
    var question = url.indexOf("?");
    var pairs = question < 0 ? [] : url.slice(question + 1).split("&");
    var pair = encodeURIComponent(name) + "=" + clickId;
    var kept = [];
    for (var p = 0; p < pairs.length; p += 1) {
      if (pairs[p] === "") continue;
      if (decoded(pairs[p].split("=")[0]) !== name) kept.push(pairs[p]);
      else if (pair !== "") {
        kept.push(pair);
        pair = "";
      }
    }
    if (pair !== "") kept.push(pair);
    return (
      (question < 0 ? url : url.slice(0, question)) +
      "?" +
      kept.join("&") +
      (hash < 0 ? "" : href.slice(hash))
    );
  }

  // Storage: local storage and a cookie, either may be blocked.

  function store(name, id) {
    quietly(function () {
      window.localStorage.setItem(name, id);
      window.localStorage.setItem(name + "_until", String(nowMs() + MAX_AGE_SECONDS * 1000));
    });
    quietly(function () {
      writeCookie(name, id, MAX_AGE_SECONDS, highestDomain());
    });
  }

  /** Local storage, else the cookie. */
  function readStored(name) {
    var local = quietly(function () {
      var until = window.localStorage.getItem(name + "_until");
      return until === null || Number(until) > nowMs() ? window.localStorage.getItem(name) : null;
    });
    var cookie = quietly(function () {
      return readCookie(name);
    });
    if (ID.test(local)) return local.toLowerCase();
    return ID.test(cookie) ? cookie.toLowerCase() : null;
  }

  function readCookie(name) {
    var cookies = document.cookie.split(/;\s*/);
    for (var c = 0; c < cookies.length; c += 1) {
      if (cookies[c].indexOf(name + "=") === 0) return cookies[c].slice(name.length + 1);
    }
    return null;
  }

  function writeCookie(name, value, maxAgeSeconds, domain) {
    document.cookie =
      name +
      "=" +
      value +
      "; Path=/; Max-Age=" +
      maxAgeSeconds +
      "; SameSite=Lax" +
      (domain === "" ? "" : "; Domain=" + domain) +
      (window.location.protocol === "https:" ? "; Secure" : "");
  }

  /** The highest parent domain on which this page may set a cookie; "" for the host alone. */
  function highestDomain() {
    if (cookieDomain !== undefined) return cookieDomain;
    cookieDomain = "";
    var probe = Math.random().toString(36).slice(2);
    var labels = window.location.hostname.split(".");
    for (var from = labels.length - 2; from >= 0; from -= 1) {
      var domain = labels.slice(from).join(".");
      writeCookie("trk_test", probe, 10, domain);
      if (readCookie("trk_test") === probe) {
        writeCookie("trk_test", "", 0, domain);
        cookieDomain = domain;
        break;
      }
    }
    return cookieDomain;
  }

  // The page around us.

  function findScript() {
    if (document.currentScript) return document.currentScript;
    var scripts = document.getElementsByTagName("script");
    for (var s = scripts.length - 1; s >= 0; s -= 1) {
      if (/\/sdk\.js(\?|#|$)/.test(scripts[s].src)) return scripts[s];
    }
    return null;
  }

  function originOf(element) {
    var link = document.createElement("a");
    link.href = (element !== null && element.src) || "/";
    return link.protocol + "//" + link.host;
  }

  function hostOf(url) {
    var match = /^https?:\/\/([^/?#:]+)/i.exec(url || "");
    return match === null ? "" : match[1].toLowerCase();
  }

  /** By the attribute, the script's own URL, or window.Tracker: some tag managers take attributes away. Undefined if it is nowhere. */
  function option(name) {
    var attribute = "data-" + name;
    if (script !== null && script.hasAttribute(attribute)) return script.getAttribute(attribute);
    if (has(optionsOfUrl, name)) return optionsOfUrl[name];
    var isSet = queue && has(queue, name) && queue[name] !== undefined && queue[name] !== null;
    return isSet ? String(queue[name]) : undefined;
  }

  /** First value of every parameter of a query string. */
  function queryOf(search) {
    var query = {};
    var pairs = search.replace(/^\?/, "").split("&");
    for (var p = 0; p < pairs.length; p += 1) {
      var equals = pairs[p].indexOf("=");
      var name = decoded(equals < 0 ? pairs[p] : pairs[p].slice(0, equals));
      if (!has(query, name)) query[name] = equals < 0 ? "" : decoded(pairs[p].slice(equals + 1));
    }
    return query;
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text.replace(/\+/g, " "));
    } catch (error) {
      return text;
    }
  }

  function has(object, name) {
    return Object.prototype.hasOwnProperty.call(object, name);
  }

  function nowMs() {
    return new Date().getTime();
  }

  function parseJson(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      return null;
    }
  }

  function textOf(error) {
    return String((error && error.message) || error);
  }

  function fail(text) {
    lastError = text;
    if (window.console && window.console.warn) window.console.warn("Tracker: " + text);
  }

  /** Runs a step whose failure must not reach the page. */
  function guard(step, argument) {
    try {
      step(argument);
    } catch (error) {
      fail(textOf(error));
    }
  }

  function guarded(listener) {
    return function (event) {
      guard(listener, event);
    };
  }

  /** Ignores storage that a visitor blocked: null. */
  function quietly(step) {
    try {
      return step();
    } catch (error) {
      return null;
    }
  }
})(window, document);

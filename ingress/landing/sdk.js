/*
 * Landing-page script: finds the click that brought the visitor, decorates links with its id and reports conversions.
 * ES5, no dependencies, and nothing it does may disturb the page: every entry from outside is guarded.
 */
(function (window, document) {
  "use strict";

  var queue = window.Tracker;
  if (queue && queue.loaded) return;

  var ID = /^[0-9a-f]{32}$/i;
  var ID_PARAMS = ["click_id", "transaction_id", "tid"];
  var AD_CLICK_IDS = ["gclid", "gbraid", "wbraid"];
  var MACRO = /\{click_id\}|%7Bclick_id%7D/gi;
  var UNTOUCHED_LINK = /^(javascript|mailto|tel):/;
  var MAX_AGE_SECONDS = 7776000;
  var REQUEST_TIMEOUT_MS = 5000;
  var OWN_PARAMS = { click_id: 1, first_click_id: 1, token: 1, js: 1, r: 1 };

  var script = findScript();
  var origin = originOf(script);
  var settings = {
    offer: attribute("data-offer"),
    aff: attribute("data-aff"),
    organic:
      script !== null &&
      script.hasAttribute("data-organic") &&
      attribute("data-organic") !== "false",
    param: attribute("data-param")
  };
  var cookieDomain;
  var clickId = null;
  var lastError = null;
  var isResolved = false;
  var waiting = [];

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
        sendConversion(params || {});
      });
    },
    push: function (entry) {
      guard(function () {
        if (typeof entry === "function") {
          whenResolved(function () {
            entry(clickId);
          });
        } else if (entry && typeof api[entry[0]] === "function") {
          var args = entry[1];
          api[entry[0]].apply(api, args instanceof Array ? args : [args]);
        }
      });
    }
  };
  window.Tracker = api;

  if (queue && typeof queue.length === "number") {
    for (var i = 0; i < queue.length; i += 1) api.push(queue[i]);
  }
  guard(listenToLinks);
  guard(resolve);

  // Finding the click, in the order of the contract: the page's URL, an ad-platform id, a stored one, organic, direct.

  function resolve() {
    var query = queryOf(window.location.search);
    var given = idInUrl(query);
    if (given !== null) {
      finish(given);
      return;
    }
    var stored = readStored("trk_cid");
    var adClickId = firstPresent(query, AD_CLICK_IDS);
    if (adClickId !== null) {
      askByAdClickId(adClickId, query[adClickId], stored);
    } else if (stored !== null) {
      finish(stored);
    } else {
      askForNewClick();
    }
  }

  function idInUrl(query) {
    var names = settings.param === "" ? ID_PARAMS : [settings.param].concat(ID_PARAMS);
    for (var n = 0; n < names.length; n += 1) {
      var value = query[names[n]];
      if (typeof value === "string" && ID.test(value)) return value.toLowerCase();
    }
    return null;
  }

  function askByAdClickId(name, value, stored) {
    var body = pageFacts();
    body[name] = value;
    // With a stored id no new direct click is wanted: without an offer none is made.
    if (stored === null) addOffer(body);
    ask(body, function (found, wasAnswered) {
      if (found !== null) finish(found);
      else if (stored !== null) finish(stored);
      else if (wasAnswered && settings.organic) askForNewClick();
      else finish(null);
    });
  }

  function askForNewClick() {
    var body = pageFacts();
    if (settings.organic) {
      var source = referrerSource();
      body.organic = true;
      body.sub1 = source.platform;
      body.sub2 = source.host;
      body.sub3 = window.location.pathname;
      addOffer(body);
      ask(body, function (found, wasAnswered) {
        if (found === null && wasAnswered && settings.offer !== "") askForDirectClick();
        else finish(found);
      });
    } else if (settings.offer !== "") {
      askForDirectClick();
    } else {
      finish(null);
    }
  }

  function askForDirectClick() {
    ask(addOffer(pageFacts()), finish);
  }

  function pageFacts() {
    return { url: window.location.href, referrer: document.referrer || "" };
  }

  function addOffer(body) {
    if (settings.offer !== "") body.offer = settings.offer;
    if (settings.aff !== "") body.aff = settings.aff;
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

  /** Calls back once, with the click id or null and whether the service answered at all. */
  function ask(body, done) {
    var request;
    var isDone = false;
    var giveUp = setTimeout(function () {
      end(null, "no answer within 5 seconds", false);
      if (request) request.abort();
    }, REQUEST_TIMEOUT_MS);

    function end(found, failure, wasAnswered) {
      if (isDone) return;
      isDone = true;
      clearTimeout(giveUp);
      if (failure) fail(failure);
      guard(function () {
        done(found, wasAnswered);
      });
    }

    try {
      request = new XMLHttpRequest();
      request.open("POST", origin + "/lp", true);
      // Plain text needs no preflight.
      request.setRequestHeader("Content-Type", "text/plain");
      request.onreadystatechange = function () {
        if (request.readyState !== 4 || isDone) return;
        var answer = parseJson(request.responseText);
        if (request.status === 200 && answer && ID.test(answer.click_id))
          end(answer.click_id.toLowerCase(), null, true);
        else if (request.status === 0) end(null, "request failed", false);
        else end(null, (answer && answer.error) || "HTTP " + request.status, true);
      };
      request.send(JSON.stringify(body));
    } catch (error) {
      end(null, String(error && error.message), false);
    }
  }

  function finish(found) {
    if (isResolved) return;
    clickId = found;
    isResolved = true;
    if (found !== null) {
      store("trk_cid", found);
      if (readStored("trk_fcid") === null) store("trk_fcid", found);
      guard(decorateAll);
      if (document.readyState === "loading")
        document.addEventListener("DOMContentLoaded", guarded(decorateAll));
    }
    var callbacks = waiting;
    waiting = [];
    for (var c = 0; c < callbacks.length; c += 1) guard(callbacks[c]);
  }

  function whenResolved(callback) {
    if (isResolved) guard(callback);
    else waiting.push(callback);
  }

  // Conversions: an image request, so that it works on every page and survives most page changes.

  function sendConversion(params) {
    var parts = [];
    var name;
    if (clickId !== null) {
      parts.push("click_id=" + clickId);
      var first = readStored("trk_fcid");
      if (first !== null && first !== clickId) parts.push("first_click_id=" + first);
    } else if (
      settings.offer !== "" &&
      params.offer === undefined &&
      params.offer_id === undefined
    ) {
      parts.push("offer=" + encodeURIComponent(settings.offer));
    }
    if (settings.aff !== "" && params.aff === undefined && params.aff_id === undefined) {
      parts.push("aff=" + encodeURIComponent(settings.aff));
    }
    for (name in params) {
      if (isSent(params, name))
        parts.push(encodeURIComponent(name) + "=" + encodeURIComponent(params[name]));
    }
    parts.push("js=1", "r=" + Math.random().toString(36).slice(2));
    new Image().src = origin + "/px?" + parts.join("&");
  }

  function isSent(params, name) {
    if (!Object.prototype.hasOwnProperty.call(params, name) || OWN_PARAMS[name] === 1) return false;
    // The click tells the offer; another one would be refused.
    if (clickId !== null && (name === "offer" || name === "offer_id")) return false;
    var value = params[name];
    return (
      value !== null &&
      value !== undefined &&
      typeof value !== "object" &&
      typeof value !== "function"
    );
  }

  // Links.

  function listenToLinks() {
    var decorateClicked = guarded(function (event) {
      var node = event.target;
      while (node && node.nodeName !== "A" && node.nodeName !== "AREA") node = node.parentNode;
      if (node && clickId !== null) decorate(node);
    });
    // Capturing, so that links which a page adds or changes later are ready before they are followed.
    document.addEventListener("click", decorateClicked, true);
    document.addEventListener("auxclick", decorateClicked, true);
    document.addEventListener("contextmenu", decorateClicked, true);
  }

  function decorateAll() {
    for (var l = 0; l < document.links.length; l += 1) decorate(document.links[l]);
  }

  function decorate(link) {
    var href = link.getAttribute("href");
    if (!href || UNTOUCHED_LINK.test(href.replace(/[\u0000-\u0020]/g, "").toLowerCase())) return;
    var decorated = href.replace(MACRO, clickId);
    if (link.hasAttribute("data-trk"))
      decorated = withParam(decorated, link.getAttribute("data-trk") || "click_id");
    if (decorated !== href) link.setAttribute("href", decorated);
  }

  function withParam(href, name) {
    var hash = href.indexOf("#");
    var fragment = hash < 0 ? "" : href.slice(hash);
    var url = hash < 0 ? href : href.slice(0, hash);
    var question = url.indexOf("?");
    var path = question < 0 ? url : url.slice(0, question);
    var pairs = question < 0 ? [] : url.slice(question + 1).split("&");
    var kept = [];
    for (var p = 0; p < pairs.length; p += 1) {
      if (pairs[p] !== "" && decoded(pairs[p].split("=")[0]) !== name) kept.push(pairs[p]);
    }
    kept.push(encodeURIComponent(name) + "=" + clickId);
    return path + "?" + kept.join("&") + fragment;
  }

  // Storage: local storage and a cookie, either may be blocked.

  function store(name, id) {
    guard(function () {
      window.localStorage.setItem(name, id + " " + (new Date().getTime() + MAX_AGE_SECONDS * 1000));
    }, true);
    guard(function () {
      writeCookie(name, id, MAX_AGE_SECONDS, highestDomain());
    }, true);
  }

  function readStored(name) {
    var id = null;
    guard(function () {
      var parts = String(window.localStorage.getItem(name)).split(" ");
      if (ID.test(parts[0]) && Number(parts[1]) > new Date().getTime()) id = parts[0];
    }, true);
    if (id !== null) return id;
    guard(function () {
      var value = readCookie(name);
      if (value !== null && ID.test(value)) id = value.toLowerCase();
    }, true);
    return id;
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
    var labels = window.location.hostname.split(".");
    for (var from = labels.length - 2; from >= 0 && labels.length > 1; from -= 1) {
      var domain = labels.slice(from).join(".");
      writeCookie("trk_test", "1", 10, domain);
      if (readCookie("trk_test") === "1") {
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
    link.href = element === null ? "/" : element.src;
    return link.protocol + "//" + link.host;
  }

  function hostOf(url) {
    var match = /^https?:\/\/([^/?#:]+)/i.exec(url || "");
    return match === null ? "" : match[1].toLowerCase();
  }

  function attribute(name) {
    return (script !== null && script.getAttribute(name)) || "";
  }

  /** First value of every parameter of a query string. */
  function queryOf(search) {
    var query = {};
    var pairs = search.replace(/^\?/, "").split("&");
    for (var p = 0; p < pairs.length; p += 1) {
      var equals = pairs[p].indexOf("=");
      var name = decoded(equals < 0 ? pairs[p] : pairs[p].slice(0, equals));
      if (!Object.prototype.hasOwnProperty.call(query, name)) {
        query[name] = equals < 0 ? "" : decoded(pairs[p].slice(equals + 1));
      }
    }
    return query;
  }

  function firstPresent(query, names) {
    for (var n = 0; n < names.length; n += 1) {
      if (typeof query[names[n]] === "string" && query[names[n]] !== "") return names[n];
    }
    return null;
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text.replace(/\+/g, " "));
    } catch (error) {
      return text;
    }
  }

  function parseJson(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      return null;
    }
  }

  function fail(text) {
    lastError = text;
    if (window.console && window.console.warn) window.console.warn("Tracker: " + text);
  }

  /** Runs a step whose failure must not reach the page. Storage that a visitor blocked is not worth a word. */
  function guard(step, isQuiet) {
    try {
      step();
    } catch (error) {
      if (!isQuiet) fail(String((error && error.message) || error));
    }
  }

  function guarded(listener) {
    return function (event) {
      guard(function () {
        listener(event);
      });
    };
  }
})(window, document);

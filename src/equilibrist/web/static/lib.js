// What all views share: templates, hooks, the API, and addresses.
import { useCallback, useEffect, useRef, useState } from "./vendor/hooks.js";
import { h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render };
export { useMemo } from "./vendor/hooks.js";
export { useCallback, useEffect, useRef, useState };
export const html = htm.bind(h);

/** An answer of the server that says what is wrong, in one sentence. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new ApiError("the server does not answer; is `equilibrist serve` still running?", 0);
  }
  if (!answer.ok) {
    const data = await answer.json().catch(() => ({}));
    throw new ApiError(data.error || `the server answered ${answer.status}`, answer.status);
  }
  return answer;
}

/** Ask the API; `body` is posted as JSON. Throws an ApiError. */
export async function api(path, body, options = {}) {
  const json = { headers: { "content-type": "application/json" } };
  const post = { ...json, method: "POST", body: JSON.stringify(body) };
  const answer = await send(path, body === undefined ? { ...json, ...options } : post);
  return answer.status === 204 ? null : answer.json();
}

/** Save a text file of the API under the name that the server gives it. */
export async function download(path) {
  const answer = await send(path);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name ? name[1] : "hands.log";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Go to an address of this page, without loading it again. */
export function go(address, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  dispatchEvent(new Event("moved"));
}

/** The part of the address after #, as an object. */
export function readHash() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The part of the address after #, and a function that changes some of its values. */
export function useHash() {
  const [place, setPlace] = useState(readHash);
  useEffect(() => {
    const moved = () => setPlace(readHash());
    const events = ["moved", "popstate", "hashchange"];
    for (const event of events) addEventListener(event, moved);
    return () => {
      for (const event of events) removeEventListener(event, moved);
    };
  }, []);
  const show = useCallback((change, options) => {
    const readable = (text) => encodeURIComponent(text).replace(/%(2F|2C|3A)/g, decodeURIComponent);
    const hash = Object.entries({ ...readHash(), ...change })
      .filter(([, value]) => value)
      .map(([key, value]) => `${key}=${readable(value)}`)
      .join("&");
    go(`${location.pathname}${hash ? `#${hash}` : ""}`, options);
  }, []);
  return [place, show];
}

const AGAIN = 600; // milliseconds between two questions about what is being computed

/** What the API knows at an address, asked again while its state is "working"; null: not yet. */
export function useKnown(address, { keep = false } = {}) {
  const [found, setFound] = useState(null);
  useEffect(() => {
    if (!keep || !address) setFound(null);
    if (!address) return undefined;
    const stop = new AbortController();
    let timer;
    const ask = async () => {
      try {
        const answer = await api(address, undefined, { signal: stop.signal });
        setFound(answer);
        if (answer.state === "working") timer = setTimeout(ask, AGAIN);
      } catch (error) {
        if (!stop.signal.aborted) setFound({ state: "unknown", reason: error.message });
      }
    };
    ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [address]);
  return found;
}

/** What is being computed or why it is unknown; nothing if it is known. */
export function Waiting({ known, what }) {
  if (!known || known.state === "known") return null;
  if (known.state === "unknown") return html`<p class="muted small">${what} not known: ${known.reason}.</p>`;
  const share = known.share === null ? "" : ` (${percent(known.share)})`;
  return html`<p class="muted small" role="status">Computing: ${known.reason}${share} …</p>`;
}

/** A link within the page. */
export function Link({ to, children, ...rest }) {
  const click = (event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
    scrollTo(0, 0);
  };
  return html`<a href=${to} onClick=${click} ...${rest}>${children}</a>`;
}

/** The address of a strategy's page; slashes of a folder stay readable. */
export function strategyAddress(name, kind = "") {
  const path = name.split("/").map(encodeURIComponent).join("/");
  return `/${kind === "spot" ? "spot" : "strategy"}/${path}`;
}

export function signed(number, digits = 0) {
  const size = Math.abs(number).toLocaleString("en", { maximumFractionDigits: digits });
  return (size === "0" ? "" : number > 0 ? "+" : "−") + size;
}

/** A number with a fixed number of decimals, a minus sign, and no negative zero. */
export function fixed(number, digits) {
  const text = Math.abs(number).toFixed(digits);
  return (number < 0 && Number(text) !== 0 ? "−" : "") + text;
}

/** The text with a capital letter. */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A player's name as people read it: a solution by its folder. */
export function playerName(text) {
  return text.replace(/^solution:/, "");
}

/** How long something takes that needs this number of minutes. */
export function roughly(minutes) {
  if (minutes < 90) return `about ${Math.max(1, Math.round(minutes))} min`;
  if (minutes < 60 * 48) return `about ${Math.round(minutes / 60)} h`;
  return `about ${Math.round(minutes / 60 / 24)} days`;
}

export function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits)} %`;
}

/** A probability of an action; small and near-certain ones are not rounded to 0 and 100. */
export function probability(share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share > 0.995 && share < 1) return ">99.5 %";
  return percent(share, share > 0 && share < 0.1 ? 1 : 0);
}

/** An error in a sentence; commands in backquotes are set as code. */
export function Problem({ text }) {
  const parts = String(text || "").split(/`([^`]+)`/);
  return text ? html`<p class="problem" role="alert">${parts.map((part, place) => (place % 2 ? html`<code>${part}</code>` : part))}</p>` : null;
}

/** Remember a choice of this browser, such as the palette. */
export function remembered(name, fallback) {
  try {
    return localStorage.getItem(name) ?? fallback;
  } catch {
    return fallback;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // a browser that stores nothing forgets the choice
  }
}

/** The palette of this browser, "usual" or "colour-blind", and a function that changes it. */
export function usePalette() {
  const [palette, setPalette] = useState(remembered("palette", "usual"));
  useEffect(() => {
    const changed = () => setPalette(remembered("palette", "usual"));
    addEventListener("palette", changed);
    return () => removeEventListener("palette", changed);
  }, []);
  const change = () => {
    remember("palette", palette === "usual" ? "colour-blind" : "usual");
    dispatchEvent(new Event("palette"));
  };
  return [palette, change];
}

/** Call a function with the key of each press that is not typed into a field. */
export function useKeys(press) {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const pressed = (event) => {
      if (!isTyped(event)) latest.current(event.key.length === 1 ? event.key.toLowerCase() : event.key, event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Whether a key press belongs to a field or a shortcut of the browser. */
export function isTyped(event) {
  return event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
}

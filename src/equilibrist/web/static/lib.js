// What all views share: templates, hooks, the API, and addresses.
import { h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { render };
export { useEffect, useMemo, useRef, useState, useCallback } from "./vendor/hooks.js";
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
  const post = { method: "POST", headers: { "content-type": "application/json" } };
  const answer = await send(path, body === undefined ? options : { ...post, body: JSON.stringify(body) });
  return answer.json();
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

export function signed(number) {
  return (number > 0 ? "+" : number < 0 ? "−" : "") + Math.abs(number).toLocaleString("en");
}

/** The text with a capital letter. */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A player's name as people read it: a solution by its folder. */
export function playerName(text) {
  return text.replace(/^solution:/, "");
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

export function Problem({ text }) {
  return text ? html`<p class="problem" role="alert">${text}</p>` : null;
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

/** Whether a key press belongs to a field or a shortcut of the browser. */
export function isTyped(event) {
  return event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
}

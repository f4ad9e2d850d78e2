// Cards of the four-colour deck.
import { html } from "./lib.js";

const SYMBOLS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const SUITS = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };

export function cardWords(card) {
  return `${RANKS[card[0]] || card[0]} of ${SUITS[card[1]]}`;
}

export function splitCards(text) {
  return text.match(/../g) || [];
}

/** A card face; without a card its back, or with `empty` its place. */
export function Card({ card, empty = false, dim = false }) {
  if (!card) {
    return html`<span class=${empty ? "card place" : "card back"} aria-label=${empty ? "no card yet" : "hidden card"} role="img"></span>`;
  }
  const rank = card[0] === "T" ? "10" : card[0];
  return html`<span class=${`card face suit-${card[1]}${dim ? " dim" : ""}`} role="img" aria-label=${cardWords(card)}>
    <span class="rank">${rank}</span><span class="suit">${SYMBOLS[card[1]]}</span>
  </span>`;
}

/** Cards in a line of text: K♥8♦. */
export function CardText({ cards }) {
  return html`<span class="cardtext">${splitCards(cards).map(
    (card) => html`<span class=${`suit-${card[1]}`}>${card[0]}${SYMBOLS[card[1]]}</span>`,
  )}</span>`;
}

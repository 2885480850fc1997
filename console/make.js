// Elements of the page.

/** An element with these properties and children. Texts become text nodes, so nothing in them is read as HTML. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A number with at most this many digits after the point. */
export function rounded(number, digits) {
  return number.toLocaleString("en", { maximumFractionDigits: digits });
}

/** A number and its noun: "1 call", "2 calls". */
export function counted(number, noun) {
  return `${rounded(number, 1)} ${noun}${number === 1 ? "" : "s"}`;
}

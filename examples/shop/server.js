// The services of the shop. Node 20, no dependencies: `node examples/shop/server.js`. Keyfold sends
// `{ field, caller, key?, undo?, items }`, and gets `{ results }` with a value or an error for each item.

const { createServer } = require("node:http");

const PRICES = new Map([["lamp", 4990], ["bulb", 325], ["clock", 12000]]);
const refused = (code, message) => ({ error: { code, message } });
const decimal = (cents) => (cents / 100).toFixed(2);

/** What things cost, by the field that asks. Sums are in cents, because `0.1 + 0.2` is not `0.3`. */
const pricing = {
  "OrderLine.price": ({ sku }) =>
    PRICES.has(sku) ? { data: decimal(PRICES.get(sku)) } : refused("NOT_SOLD", "This product is no longer sold."),
  "Order.total": ({ lines }) =>
    lines.every(({ sku }) => PRICES.has(sku))
      ? { data: decimal(lines.reduce((sum, { sku, quantity }) => sum + PRICES.get(sku) * quantity, 0)) }
      : refused("NOT_SOLD", "The order has a product that is no longer sold."),
};

/** The charges by key, in memory. A key is charged once, and after a refund nothing is charged for it any more. */
const charges = new Map();
const LIMIT = 1000;

function charge(key, undo, { amount }) {
  if (undo === "refund") charges.set(key, refused("REFUNDED", "This payment was given back."));
  if (!charges.has(key)) {
    const isDeclined = !(Number(amount) > 0 && Number(amount) <= LIMIT);
    const declined = refused("DECLINED", `The bank declines payments over ${LIMIT}.`);
    charges.set(key, isDeclined ? declined : { data: { id: `charge-${charges.size + 1}` } });
  }
  return undo ? { data: {} } : charges.get(key);
}

function results(url, { field, key, undo, items }) {
  if (url === "/pricing" && pricing[field]) return items.map(pricing[field]);
  if (url === "/payments" && key) return items.map((item) => charge(key, undo, item));
}

createServer(async (request, response) => {
  let body = "";
  for await (const part of request) if ((body += part).length > 1 << 20) return request.destroy();
  try {
    const found = results(request.url, JSON.parse(body));
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify({ results: found }));
  } catch {
    response.writeHead(400).end();
  }
}).listen(Number(process.env.PORT ?? 4001), process.env.HOST ?? "127.0.0.1", () => console.log("The services answer."));

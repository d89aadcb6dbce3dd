/**
 * jsdom has its own realm: gives it Node's typed arrays and web APIs, so that crypto and streams
 * work as in a browser.
 */
const { TestEnvironment } = require("jest-environment-jsdom");

const { addBrowserObjects } = require("./browser-objects.cjs");

// Without MessageChannel, MessagePort and BroadcastChannel: with them jest never exits.
const names = [
  "ArrayBuffer",
  "SharedArrayBuffer",
  "DataView",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int8Array",
  "Uint16Array",
  "Int16Array",
  "Uint32Array",
  "Int32Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
  "TextEncoder",
  "TextDecoder",
  "structuredClone",
  "crypto",
  "Crypto",
  "CryptoKey",
  "SubtleCrypto",
  "ReadableStream",
  "WritableStream",
  "TransformStream",
  "CompressionStream",
  "DecompressionStream",
  "fetch",
  "Request",
  "Response",
  "Headers",
];

module.exports = class extends TestEnvironment {
  constructor(...settings) {
    super(...settings);
    for (const name of names) {
      if (name in globalThis) {
        Object.defineProperty(this.global, name, { value: globalThis[name], configurable: true, writable: true });
      }
    }
    this.global.scrollTo = () => undefined; // jsdom has no layout
    addBrowserObjects(this.global);
  }
};

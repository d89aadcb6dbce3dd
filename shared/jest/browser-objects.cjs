/**
 * What jsdom lacks and screens of remotes use. No query matches, nothing is ever resized, and a
 * canvas draws nothing.
 */
module.exports = { addBrowserObjects };

function addBrowserObjects(window) {
  window.matchMedia = (media) => Object.assign(new window.EventTarget(), { matches: false, media, onchange: null });
  for (const name of ["ResizeObserver", "IntersectionObserver"])
    window[name] = class {
      observe() {}
      unobserve() {}
      disconnect() {}
      takeRecords() {
        return [];
      }
    };
  const contexts = new WeakMap();
  window.HTMLCanvasElement.prototype.getContext = function getContext(kind) {
    if (kind !== "2d") return null;
    if (!contexts.has(this)) contexts.set(this, createDrawingContext(this));
    return contexts.get(this);
  };
}

/** Keeps what is set, such as `fillStyle`; its functions do nothing. */
function createDrawingContext(canvas) {
  const gradient = { addColorStop: () => undefined };
  const members = {
    canvas,
    measureText: () => ({ width: 0, actualBoundingBoxAscent: 0, actualBoundingBoxDescent: 0 }),
    getImageData: (_x, _y, width, height) => ({ width, height, data: new Uint8ClampedArray(width * height * 4) }),
    createLinearGradient: () => gradient,
    createRadialGradient: () => gradient,
    createConicGradient: () => gradient,
    createPattern: () => null,
    getLineDash: () => [],
  };
  return new Proxy(members, {
    get: (target, name) => (name in target ? target[name] : () => undefined),
  });
}

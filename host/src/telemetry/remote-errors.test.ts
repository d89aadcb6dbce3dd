import { PortalError } from "@relicario/shared/errors";

import { maxRemoteErrors, watchRemoteErrors } from "./remote-errors.ts";

const origin = "https://portal.example";

function setUp() {
  const page = new EventTarget();
  const onError = jest.fn();
  watchRemoteErrors({ page, origin, onError });
  const createError = (error: Error, ...files: readonly string[]): Error =>
    Object.assign(error, { stack: ["Error", ...files.map((file) => `    at f (${origin}${file}:1:2)`)].join("\n") });
  return {
    onError,
    createError,
    failIn: (filename: string, error: unknown) =>
      page.dispatchEvent(new ErrorEvent("error", { filename: origin + filename, error })),
    reject: (reason: unknown) => page.dispatchEvent(Object.assign(new Event("unhandledrejection"), { reason })),
  };
}

describe("watchRemoteErrors", () => {
  it.each([
    ["its own file", "/r/garden/garden-1.0.0-0123456789ab/1.js", []],
    ["a shared package that it called", "/static/1.js", ["/static/1.js", "/r/garden/garden-1.0.0-0123456789ab/1.js"]],
    ["the service of another remote", "/static/1.js", ["/r/garden/garden-1/1.js", "/r/secrets/secrets-1/1.js"]],
  ])("reports an error in %s to the remote with the innermost file", (_where, file, stack) => {
    const { failIn, onError, createError } = setUp();
    failIn(file, createError(new TypeError("x"), ...stack));
    expect(onError.mock.calls).toEqual([["garden", "remote_crashed"]]);
  });

  it("reports a rejection that nothing handles, with the code of a PortalError", () => {
    const { reject, onError, createError } = setUp();
    reject(createError(new PortalError("offline"), "/r/garden/garden-1/1.js"));
    reject(createError(new PortalError("cancelled"), "/r/garden/garden-1/1.js"));
    expect(onError.mock.calls).toEqual([["garden", "offline"]]);
  });

  it("reports no error of the host, of another origin, or without a place", () => {
    const { failIn, reject, onError, createError } = setUp();
    failIn("/static/1.js", createError(new TypeError("x"), "/static/1.js"));
    failIn("/static/1.js", "a text");
    reject(undefined);
    reject(Object.assign(new Error("x"), { stack: "at https://elsewhere.example/r/garden/1.js" }));
    expect(onError).not.toHaveBeenCalled();
  });

  it("stops at a number of errors of each remote", () => {
    const { failIn, onError } = setUp();
    for (let count = 0; count < 2 * maxRemoteErrors; count++) failIn("/r/garden/garden-1/1.js", new Error("x"));
    failIn("/r/notes/notes-1/1.js", new Error("x"));
    expect(onError).toHaveBeenCalledTimes(maxRemoteErrors + 1);
  });
});

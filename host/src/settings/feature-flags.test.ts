import { createFeatureFlags, flagsKey } from "./feature-flags.ts";

const testDeployment = { environment: "test", features: { camera: true, cloud: false } };

beforeEach(() => {
  sessionStorage.clear();
});

describe("createFeatureFlags", () => {
  it.each([
    ["dev", true],
    ["test", false],
    ["production", false],
  ])("shows billing in the environment %s: %s, even if the deployment sets the opposite", (environment, expected) => {
    expect(
      createFeatureFlags({ environment, features: { billing: !expected } }, sessionStorage).getState()["billing"],
    ).toBe(expected);
  });

  it.each(["test", "production"] as const)(
    "shows no billing in %s, even if storage or a developer switches it on",
    (environment) => {
      sessionStorage.setItem(flagsKey, '{"billing":true}');
      const flags = createFeatureFlags({ environment, features: { billing: true, debug_flags: true } }, sessionStorage);
      flags.set("billing", true);
      expect(flags.getState()["billing"]).toBe(false);
    },
  );

  it("stores changes for this session, and notifies listeners", () => {
    const flags = createFeatureFlags(testDeployment, sessionStorage);
    const listener = jest.fn();
    flags.subscribe(listener);
    flags.set("cloud", true);
    expect(flags.getState()).toMatchObject({ camera: true, cloud: true });
    expect(listener).toHaveBeenCalledTimes(1);
    expect(JSON.parse(sessionStorage.getItem(flagsKey) ?? "")).toEqual({ cloud: true });
    expect(createFeatureFlags(testDeployment, sessionStorage).getState()).toMatchObject({ cloud: true });
    flags.reset();
    expect(flags.getState()).toEqual(flags.defaults);
    expect(sessionStorage.getItem(flagsKey)).toBeNull();
  });

  it.each([
    ["nonsense", "{"],
    ["another shape", '{"camera":"yes"}'],
    ["a flag that the deployment does not have", '{"admin":true}'],
  ])("ignores %s in storage", (_name, stored) => {
    sessionStorage.setItem(flagsKey, stored);
    expect(createFeatureFlags(testDeployment, sessionStorage).getState()).toEqual({
      camera: true,
      cloud: false,
      billing: false,
    });
  });

  it("allows no changes in production unless the deployment has debug_flags", () => {
    sessionStorage.setItem(flagsKey, '{"cloud":true}');
    const flags = createFeatureFlags({ ...testDeployment, environment: "production" }, sessionStorage);
    flags.set("camera", false);
    expect(flags.switchable).toBe(false);
    expect(flags.getState()).toMatchObject({ camera: true, cloud: false });
    const allowed = createFeatureFlags(
      { environment: "production", features: { ...testDeployment.features, debug_flags: true } },
      sessionStorage,
    );
    expect(allowed.getState()).toMatchObject({ cloud: true });
  });
});

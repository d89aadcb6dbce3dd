import { code, idsOf, nowhere, textContent, textSecret, type MakeStage } from "./describe-vault.stage.ts";

/** Of a share or a request that there is not. */
const none = "AAAAAAAAAAAAAAAAAAAAAA";

export function describeCalls(make: MakeStage): void {
  it("gives up every act that is cancelled, and changes nothing", async () => {
    const { vault, shown, shownKey } = await make({
      secrets: [{ title: "Deed", content: "house" }],
      people: [{ userName: "bruno" }],
      startAnew: "ready",
    });
    const [id] = await idsOf(vault);
    const before = await vault.list();
    const person = await vault.people.find("bruno");
    const options = { signal: AbortSignal.abort() };
    const [opener, key] = [shown("garden"), shownKey("passkey", "7")];
    const later = new Date(Date.now() + 86_400_000).toISOString();
    const acts: Readonly<Record<string, () => Promise<unknown>>> = {
      list: () => vault.list(options),
      protect: () => vault.protect(textSecret("Key", "x"), options),
      update: () => vault.update(id, { baseVersion: 1, title: "x" }, options),
      "update of the content": () => vault.update(id, { baseVersion: 1, content: textContent("x") }, options),
      history: () => vault.history(id, options),
      restoreVersion: () => vault.restoreVersion(id, 1, opener, options),
      removeVersions: () => vault.removeVersions(id, [1], options),
      purge: () => vault.purge([id], options),
      unlock: () => vault.unlock(opener, options),
      recover: () => vault.recover(id, opener, options),
      rehearse: () => vault.rehearse(id, opener, options),
      exportSecrets: () => vault.exportSecrets([id], opener, options),
      makeKit: () => vault.makeKit([id], opener, options),
      "imports.read": () => vault.imports.read([], { ...options, language: "en" }),
      "imports.compare": () => vault.imports.compare([], options),
      "imports.store": () => vault.imports.store([], opener, options),
      "openers.list": () => vault.openers.list(options),
      "openers.add": () => vault.openers.add({ shown: key, name: "Phone" }, opener, options),
      "openers.cover": () => vault.openers.cover(opener, options),
      "openers.remove": () => vault.openers.remove(nowhere, opener, options),
      "openers.recognise": () => vault.openers.recognise(opener, options),
      "openers.rotate": () => vault.openers.rotate([opener], options),
      "openers.changeImage": () => vault.openers.changeImage(opener, { shown: shown("lake"), name: "Lake" }, options),
      "startAnew.begin": () => vault.startAnew.begin({ shown: shown("lake"), name: "Lake" }, options),
      "deviceLinks.offer": () => vault.deviceLinks.offer({ shown: key, name: "Laptop" }, options),
      "deviceLinks.look": () => vault.deviceLinks.look("", options),
      "deviceLinks.admit": () => vault.deviceLinks.admit("", opener, options),
      "shares.create": () =>
        vault.shares.create(
          {
            secretId: id,
            to: { audience: "public" },
            expiresAt: later,
            maxViews: null,
            password: null,
            picture: null,
            notify: false,
          },
          opener,
          options,
        ),
      "shares.ofSecret": () => vault.shares.ofSecret(id, options),
      "shares.showLink": () => vault.shares.showLink(none, null, options),
      "shares.change": () => vault.shares.change(none, { maxViews: 1 }, options),
      "shares.updateContent": () => vault.shares.updateContent(none, opener, options),
      "shares.revoke": () => vault.shares.revoke(none, options),
      "people.find": () => vault.people.find("bruno", options),
      "people.pin": () => vault.people.pin(person, options),
      "received.list": () => vault.received.list(options),
      "received.open": () => vault.received.open(none, opener, options),
      "requests.create": () =>
        vault.requests.create(
          { title: "x", note: "", askedBy: "Alba", expiresAt: later, maxSize: 1, notify: false },
          opener,
          options,
        ),
      "requests.list": () => vault.requests.list(options),
      "requests.showLink": () => vault.requests.showLink(none, null, options),
      "requests.open": () => vault.requests.open(none, null, options),
      "requests.collect": () => vault.requests.collect(none, options),
      "requests.drop": () => vault.requests.drop(none, options),
    };
    const codes = await Promise.all(
      Object.entries(acts).map(async ([name, act]) => [
        name,
        await act().then(
          () => "none",
          (error: unknown) => (expect(error).toEqual(code("cancelled")), "cancelled"),
        ),
      ]),
    );
    expect(Object.fromEntries(codes)).toEqual(Object.fromEntries(Object.keys(acts).map((name) => [name, "cancelled"])));
    await expect(vault.list()).resolves.toEqual(before);
    await expect(vault.images()).resolves.toHaveLength(1);
  });

  it("tells how far an act is before it is answered", async () => {
    const { vault } = await make({ secrets: [{ title: "Deed", content: "house" }] });
    const phases = new Set<string>();
    const onProgress = ({ phase }: { readonly phase: string }): void => {
      phases.add(phase);
    };
    const [id] = await idsOf(vault);
    await vault.protect(textSecret("Key", "door"), { onProgress });
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "sending"]));
    phases.clear();
    await vault.update(id, { baseVersion: 1, content: textContent("flat") }, { onProgress });
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "sending"]));
  });
}

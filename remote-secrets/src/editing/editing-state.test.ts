import { changeEditing, clearEdited, contentFile, editingState, leaveSecrets, type EditingSecret } from "./editing-state.ts";

const secret: EditingSecret = { secretId: "id", version: 2, rev: 3, title: "Wallet", tags: ["family"], contentKind: "text", name: "secret.txt", size: 4 };
const shown = { picture: new Blob(["garden"]), passphrase: null };
const file = new File(["film"], "film.mp4");

function begin(): void {
  changeEditing({
    secretId: "id",
    recoveredSecret: "words",
    editingSecret: secret,
    editingKeepic: shown,
    secretFile: file,
    secretV2: file,
    isTextSecret: false,
    categories: ["family"],
    selectedSecret: "id",
  });
}

function storageWith(entries: Readonly<Record<string, string>>) {
  const kept = new Map(Object.entries(entries));
  return { kept, getItem: (key: string) => kept.get(key) ?? null, removeItem: (key: string) => void kept.delete(key) };
}

describe("the editing state", () => {
  beforeEach(begin);

  it("holds what is being edited by the names of the specification", () => {
    expect(editingState()).toEqual({
      secretId: "id",
      recoveredSecret: "words",
      editingSecret: secret,
      editingKeepic: shown,
      secretFile: file,
      secretV2: file,
      isTextSecret: false,
      categories: ["family"],
      selectedSecret: "id",
    });
  });

  it("cannot be changed past its own function", () => {
    expect(() => Object.assign(editingState(), { secretId: "other" })).toThrow(TypeError);
    expect(editingState().secretId).toBe("id");
  });

  it("is cleared of the secret being edited and its image when Edit secret is left", () => {
    clearEdited();
    expect(editingState()).toEqual({
      secretId: "",
      recoveredSecret: "",
      editingSecret: null,
      editingKeepic: null,
      secretFile: null,
      secretV2: null,
      isTextSecret: true,
      categories: ["family"],
      selectedSecret: "id",
    });
  });

  it("is cleared of the secret being edited and its image when Secrets is left", () => {
    leaveSecrets(storageWith({}));
    expect(editingState()).toMatchObject({ secretId: "", editingSecret: null, editingKeepic: null, recoveredSecret: "words" });
  });

  it("with a recoverId loses that and the recovered secret when Secrets is left", () => {
    const storage = storageWith({ recoverId: "id", vendorId: "acme" });
    leaveSecrets(storage);
    expect(editingState()).toMatchObject({ editingSecret: null, editingKeepic: null, recoveredSecret: "" });
    expect([...storage.kept.keys()]).toEqual(["vendorId"]);
  });
});

describe("contentFile", () => {
  it("makes secret.txt of a text", () => {
    const { secretFile, isTextSecret } = contentFile("words");
    expect([secretFile.name, secretFile.type, secretFile.size, isTextSecret]).toEqual(["secret.txt", "text/plain", 5, true]);
  });

  it("keeps anything else as it is, and marks it as not text", () => {
    expect(contentFile(file)).toEqual({ secretFile: file, isTextSecret: false });
    expect(contentFile(file).secretFile).toBe(file);
  });
});

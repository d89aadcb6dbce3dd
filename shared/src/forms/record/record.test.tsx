import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import { stringifyRecord, type RecordField } from "../../api/index.ts";
import { expectAccessible, renderApp } from "../../testing/index.ts";
import { parseRecordDraft, stringifyRecordDraft, type RecordDraftField } from "./record-draft.ts";
import { RecordEditor } from "./RecordEditor.tsx";

const login: readonly RecordField[] = [
  { label: "User name", value: "ana", kind: "text" },
  { label: "Password", value: "p<b>w</b>", kind: "secret" },
  { label: "Website", value: "https://mail.example/", kind: "address" },
  { label: "Trap", value: "javascript:alert(1)", kind: "address" },
  { label: "Since", value: "2024-02-29", kind: "date" },
  { label: "Note", value: "one\ntwo", kind: "note" },
];
const getField = (name: string) => within(screen.getByRole("group", { name }));

describe("RecordEditor", () => {
  let current: readonly RecordDraftField[] = [];
  function Editor({
    initial,
    error,
  }: {
    readonly initial: readonly RecordDraftField[];
    readonly error: string | null;
  }) {
    const [fields, setFields] = useState(initial);
    return (
      <main>
        <RecordEditor
          value={fields}
          error={error}
          disabled={false}
          onChange={(next) => {
            current = next;
            setFields(next);
          }}
        />
      </main>
    );
  }
  const renderEditor = async (fields: readonly RecordField[] = [], error: string | null = null) => {
    const initial = parseRecordDraft(stringifyRecord(fields)) ?? [];
    current = initial;
    return renderApp(<Editor initial={initial} error={error} />);
  };
  const getStored = () => JSON.parse(stringifyRecordDraft(current)) as unknown;

  it("starts with the fields of a login, and stores the fields that have a value", async () => {
    await renderEditor();
    await userEvent.type(getField("Field 1").getByRole("textbox", { name: "Value" }), "ana");
    await userEvent.type(getField("Field 2").getByLabelText("Value"), "pw");
    expect(getStored()).toEqual({
      v: 1,
      fields: [
        { label: "User name", value: "ana", kind: "text" },
        { label: "Password", value: "pw", kind: "secret" },
      ],
    });
    await expectAccessible();
  });

  it("adds a field, moves it and removes another field", async () => {
    await renderEditor(login.slice(0, 2));
    await userEvent.click(screen.getByRole("button", { name: "Add a field" }));
    expect(getField("Field 3").getByRole("textbox", { name: "Name" })).toHaveFocus();
    await userEvent.keyboard("Code");
    await userEvent.selectOptions(getField("Field 3").getByRole("combobox", { name: "Kind" }), "One-time code");
    await userEvent.type(getField("Field 3").getByLabelText("Value"), "JBSWY3DP");
    await userEvent.click(screen.getByRole("button", { name: "Move field 3 up" }));
    await userEvent.click(screen.getByRole("button", { name: "Remove field 1" }));
    expect(screen.getByRole("button", { name: "Add a field" })).toHaveFocus();
    expect(getStored()).toEqual({
      v: 1,
      fields: [
        { label: "Code", value: "JBSWY3DP", kind: "one_time_code" },
        { label: "Password", value: "p<b>w</b>", kind: "secret" },
      ],
    });
  });

  it("keeps every field of a record unchanged", async () => {
    await renderEditor([...login, { label: "Key", value: "one\r\ntwo", kind: "secret" }]);
    expect(getStored()).toEqual({ v: 1, fields: [...login, { label: "Key", value: "one\r\ntwo", kind: "secret" }] });
  });

  it("keeps the line ends of a note that becomes a secret, and the focus when the line ends are deleted", async () => {
    await renderEditor([{ label: "Key", value: "one", kind: "note" }]);
    await userEvent.type(getField("Field 1").getByLabelText("Value"), "{Enter}two");
    await userEvent.selectOptions(getField("Field 1").getByRole("combobox", { name: "Kind" }), "Secret");
    const value = getField("Field 1").getByLabelText("Value");
    expect(value).toHaveValue("one\ntwo");
    await userEvent.type(value, "{Backspace>4/}!");
    expect(value).toHaveFocus();
    expect(getStored()).toEqual({ v: 1, fields: [{ label: "Key", value: "one!", kind: "secret" }] });
  });

  it("shows next to each field its error", async () => {
    await renderEditor([{ label: "Code", value: "JBSWY3DP", kind: "one_time_code" }], "Check the fields above.");
    const value = getField("Field 1").getByLabelText("Value");
    await userEvent.type(value, "1");
    expect(screen.getByText(/^This can't generate codes\. Check it/)).toBeVisible();
    await userEvent.selectOptions(getField("Field 1").getByRole("combobox", { name: "Kind" }), "Date");
    expect(screen.getByText(/^This is not a date/)).toBeVisible();
    expect(getField("Field 1").getByRole("textbox", { name: "Value" })).toHaveValue("JBSWY3DP1");
    await userEvent.clear(getField("Field 1").getByRole("textbox", { name: "Name" }));
    expect(screen.getByText("Give this field a name.")).toBeVisible();
    await expectAccessible();
  });
});

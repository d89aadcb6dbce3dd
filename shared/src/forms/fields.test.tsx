import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import { expectAccessible, renderApp } from "../testing/index.ts";
import { Checkbox, ChoiceGroup, Switch } from "./choices.tsx";
import { PasswordField, TextArea, TextField } from "./inputs.tsx";
import { TagField } from "./TagField.tsx";

describe("TextField", () => {
  it("is described by its hint and its error", async () => {
    await renderApp(<TextField label="Title" hint="So that you find it" error="Give it a title." />);
    const field = screen.getByRole("textbox", { name: "Title" });
    expect(field).toBeInvalid();
    expect(field).toHaveAccessibleDescription("Give it a title. So that you find it");
    expect(screen.getByRole("alert")).toHaveTextContent("Give it a title.");
  });

  it("is valid without an error", async () => {
    await renderApp(<TextField label="Title" />);
    expect(screen.getByRole("textbox", { name: "Title" })).toBeValid();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });
});

describe("PasswordField", () => {
  it("shows and hides what was typed, unchanged", async () => {
    await renderApp(<PasswordField label="Passphrase" />);
    const field = screen.getByLabelText("Passphrase");
    expect(field).toHaveAttribute("type", "password");
    await userEvent.type(field, "  two  spaces ");
    await userEvent.click(screen.getByRole("button", { name: "Show what you typed" }));
    expect(field).toHaveAttribute("type", "text");
    expect(field).toHaveValue("  two  spaces ");
    await userEvent.click(screen.getByRole("button", { name: "Hide what you typed" }));
    expect(field).toHaveAttribute("type", "password");
  });

  it("disables autocomplete, capitalisation and spell check", async () => {
    await renderApp(<PasswordField label="Passphrase" />);
    const field = screen.getByLabelText("Passphrase");
    expect(field).toHaveAttribute("autocomplete", "off");
    expect(field).toHaveAttribute("autocapitalize", "none");
    expect(field).toHaveAttribute("spellcheck", "false");
  });
});

function Tags({ initial = [] }: { readonly initial?: string[] }) {
  const [tags, setTags] = useState(initial);
  return <TagField label="Tags" value={tags} onChange={setTags} suggestions={["wallet"]} />;
}

describe("TagField", () => {
  const findChips = () => screen.queryAllByRole("listitem").map((chip) => chip.textContent);

  it("adds a tag on Enter, comma and blur", async () => {
    await renderApp(<Tags />);
    const field = screen.getByRole("combobox", { name: "Tags" });
    await userEvent.type(field, "family{Enter}keys,home");
    await userEvent.tab();
    expect(findChips()).toEqual(["family", "keys", "home"]);
  });

  it("trims tags and ignores duplicates", async () => {
    await renderApp(<Tags />);
    await userEvent.type(screen.getByRole("combobox", { name: "Tags" }), " keys {Enter}keys{Enter},");
    expect(findChips()).toEqual(["keys"]);
  });

  it("splits pasted text", async () => {
    await renderApp(<Tags />);
    await userEvent.click(screen.getByRole("combobox", { name: "Tags" }));
    await userEvent.paste("one, two\nthree");
    expect(findChips()).toEqual(["one", "two", "three"]);
  });

  it("removes tags by Backspace and by button", async () => {
    await renderApp(<Tags initial={["one", "two", "three"]} />);
    await userEvent.type(screen.getByRole("combobox", { name: "Tags" }), "{Backspace}");
    await userEvent.click(screen.getByRole("button", { name: "Remove tag one" }));
    expect(findChips()).toEqual(["two"]);
  });

  it("submits the form on Enter in the empty field", async () => {
    const onSubmit = jest.fn((event: { preventDefault: () => void }) => {
      event.preventDefault();
    });
    await renderApp(
      <form onSubmit={onSubmit}>
        <Tags />
      </form>,
    );
    await userEvent.type(screen.getByRole("combobox", { name: "Tags" }), "one{Enter}");
    expect(onSubmit).not.toHaveBeenCalled();
    await userEvent.keyboard("{Enter}");
    expect(onSubmit).toHaveBeenCalledTimes(1);
  });
});

function Choices() {
  const [value, setValue] = useState<"own" | "shared" | null>(null);
  const [isOn, setIsOn] = useState(false);
  return (
    <main>
      <ChoiceGroup
        legend="Whose device?"
        name="device"
        value={value}
        onChange={setValue}
        choices={[
          { value: "own", label: "Mine", hint: "It stays." },
          { value: "shared", label: "Shared" },
        ]}
      />
      <Switch label="Alone" checked={isOn} onChange={setIsOn} />
      <Checkbox label="I agree" error="Tick it." />
      <TextArea label="Text" error="Type something." />
      <PasswordField label="Passphrase" hint="As typed" />
      <Tags initial={["one"]} />
    </main>
  );
}

it("ChoiceGroup chooses by keyboard and reads its hints", async () => {
  await renderApp(<Choices />);
  const own = screen.getByRole("radio", { name: "Mine" });
  expect(own).toHaveAccessibleDescription("It stays.");
  await userEvent.tab();
  await userEvent.keyboard(" ");
  expect(own).toBeChecked();
});

it("Switch turns on and off", async () => {
  await renderApp(<Choices />);
  const alone = screen.getByRole("switch", { name: "Alone" });
  await userEvent.click(alone);
  expect(alone).toBeChecked();
});

it.each(["light", "dark"] as const)("fields have no accessibility violations in %s", async (theme) => {
  await renderApp(<Choices />, { theme });
  await expectAccessible();
});

import { X } from "lucide-react";
import { useId, useState, type ClipboardEvent, type FocusEvent, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { Field, type CommonFieldProps } from "./Field.tsx";
import { s, space } from "../ui/tokens.ts";
import { Verbatim } from "../ui/Verbatim.tsx";

export interface TagFieldProps extends CommonFieldProps {
  readonly value: readonly string[];
  readonly onChange: (value: string[]) => void;
  readonly onBlur?: () => void;
  /** Tags in use elsewhere. */
  readonly suggestions?: readonly string[];
  /** Maximum number of characters of a tag. */
  readonly maxLength?: number;
  readonly disabled?: boolean;
}

/**
 * Edits tags as chips. Enter or a comma adds a tag; Backspace in the empty field removes the last
 * one.
 */
export function TagField({
  label,
  hint,
  error,
  optional = false,
  value,
  onChange,
  onBlur,
  suggestions = [],
  maxLength,
  disabled = false,
}: TagFieldProps) {
  const { t } = useTranslation("common");
  const [draft, setDraft] = useState("");
  const listId = useId();

  const add = (text: string) => {
    const addedTags = text
      .split(/[,\n\t]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== "");
    setDraft("");
    const nextTags = [...new Set([...value, ...addedTags])];
    if (nextTags.length !== value.length) onChange(nextTags);
  };
  const remove = (tag: string) => {
    onChange(value.filter((existing) => existing !== tag));
  };
  const handleKey = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    if ((event.key === "Enter" && draft !== "") || event.key === ",") {
      event.preventDefault();
      add(draft);
    } else if (event.key === "Backspace" && draft === "") {
      const lastTag = value.at(-1);
      if (lastTag !== undefined) remove(lastTag);
    }
  };
  const handlePaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const text = event.clipboardData.getData("text");
    if (!/[,\n\t]/.test(text)) return;
    event.preventDefault();
    add(`${draft}${text}`);
  };
  const handleBlur = (event: FocusEvent) => {
    if (draft !== "") add(draft);
    if (!event.currentTarget.contains(event.relatedTarget)) onBlur?.();
  };

  return (
    <Field label={label} hint={hint} error={error} optional={optional}>
      {(attributes) => (
        <Box onBlur={handleBlur} data-invalid={attributes["aria-invalid"]}>
          {value.length > 0 && (
            <Chips>
              {value.map((tag) => (
                <Chip key={tag}>
                  <Verbatim>{tag}</Verbatim>
                  <ChipButton
                    type="button"
                    aria-label={t("tags.remove_action", { tag })}
                    disabled={disabled}
                    onClick={() => {
                      remove(tag);
                    }}
                  >
                    <X aria-hidden size={14} />
                  </ChipButton>
                </Chip>
              ))}
            </Chips>
          )}
          <TagInput
            {...attributes}
            type="text"
            value={draft}
            maxLength={maxLength}
            disabled={disabled}
            autoComplete="off"
            enterKeyHint="done"
            list={suggestions.length > 0 ? listId : undefined}
            onChange={(event) => {
              setDraft(event.target.value);
            }}
            onKeyDown={handleKey}
            onPaste={handlePaste}
          />
          {suggestions.length > 0 && (
            <datalist id={listId}>
              {suggestions
                .filter((suggestion) => !value.includes(suggestion))
                .map((suggestion) => (
                  <option key={suggestion} value={suggestion} />
                ))}
            </datalist>
          )}
        </Box>
      )}
    </Field>
  );
}

const Box = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1.5)};
  min-height: 44px;
  padding: ${space(1)} ${space(1.5)};
  border: 1px solid ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  &:focus-within {
    outline: 2px solid ${s("focus")};
    border-color: ${s("focus")};
  }
  &[data-invalid="true"] {
    border-color: ${s("danger")};
  }
  &:has(> input:disabled) {
    background: ${s("surfaceSunken")};
    color: ${s("textMuted")};
    cursor: not-allowed;
  }
`;

const Chips = styled.ul`
  display: contents;
`;

const Chip = styled.li`
  display: inline-flex;
  align-items: center;
  max-width: 100%;
  padding-left: ${space(2.5)};
  border-radius: ${s("radiusSmall")};
  background: ${s("accentSoft")};
  color: ${s("text")};
  font-size: ${s("textSmall")};
  & > span {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
`;

const ChipButton = styled.button`
  display: grid;
  place-items: center;
  flex: none;
  width: 32px;
  height: 32px;
  border: 0;
  border-radius: ${s("radiusSmall")};
  background: transparent;
  color: inherit;
  cursor: pointer;
  @media (pointer: coarse) {
    width: 44px;
    height: 44px;
  }
`;

const TagInput = styled.input`
  flex: 1 1 8ch;
  min-width: 8ch;
  min-height: 34px;
  padding: 0 ${space(1.5)};
  border: 0;
  background: transparent;
  &:focus-visible {
    outline: none;
  }
`;

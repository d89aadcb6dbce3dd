import { useRef, useState, type Ref } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { Button } from "../../ui/Button.tsx";
import { SmallText, Stack } from "../../ui/layout.tsx";
import { Notice } from "../../ui/notices.tsx";
import { s, space } from "../../ui/tokens.ts";
import { TextArea } from "../inputs.tsx";
import { seedLengths } from "./seed-lengths.ts";
import { useSeedCheck, type SeedCheckState } from "./useSeedCheck.ts";

export interface SeedFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur: () => void;
  readonly error: string | null;
  readonly disabled: boolean;
  readonly fieldRef: Ref<HTMLTextAreaElement>;
}

/**
 * Field for a seed phrase, with word completion and a checksum check on the device. The check only
 * informs: any phrase is accepted.
 */
export function SeedField({ value, onChange, onBlur, error, disabled, fieldRef }: SeedFieldProps) {
  const { t } = useTranslation("common");
  const state = useSeedCheck(value);
  const area = useRef<HTMLTextAreaElement | null>(null);
  const [caret, setCaret] = useState(0);
  const prefix = /\S+$/u.exec(value.slice(0, caret))?.[0] ?? "";
  const atEndOfWord = !/^\S/u.test(value.slice(caret));
  const suggestions = state.status === "checked" && atEndOfWord ? state.complete(prefix) : [];

  const insertWord = (word: string) => {
    const textBeforeCaret = `${value.slice(0, caret - prefix.length)}${word} `;
    onChange(`${textBeforeCaret}${value.slice(caret).trimStart()}`);
    setCaret(textBeforeCaret.length);
    // The caret can be set only after React has rendered the new value.
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(textBeforeCaret.length, textBeforeCaret.length);
    });
  };
  return (
    <Stack $gap={3}>
      <TextArea
        mono
        rows={4}
        ref={(element) => {
          area.current = element;
          if (typeof fieldRef === "function") fieldRef(element);
        }}
        label={t("seed.label")}
        hint={t("seed.hint")}
        error={error}
        disabled={disabled}
        value={value}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        onBlur={onBlur}
        onChange={(event) => {
          setCaret(event.target.selectionStart);
          onChange(event.target.value);
        }}
        onSelect={(event) => {
          setCaret(event.currentTarget.selectionStart);
        }}
      />
      {!disabled && (
        <Words role="group" translate="no" aria-label={t("seed.suggestions_aria")}>
          {suggestions.map((word) => (
            <Button
              key={word}
              tone="quiet"
              size="small"
              onClick={() => {
                insertWord(word);
              }}
            >
              {word}
            </Button>
          ))}
        </Words>
      )}
      <SeedCheckResult state={state} />
    </Stack>
  );
}

function SeedCheckResult({ state }: { readonly state: SeedCheckState }) {
  const { t } = useTranslation("common");
  if (state.status === "empty" || state.status === "checking") return null;
  if (state.status === "unchecked") return <SmallText role="status">{t("seed.unchecked_status")}</SmallText>;
  const { check } = state;
  const language = t(`seed.language_${check.language}_label`);
  switch (check.verdict) {
    case "fits":
      return (
        <Notice tone="success" role="status">
          {t("seed.fits_status", { count: check.wordCount, language })}
        </Notice>
      );
    case "wrong":
      return (
        <Notice tone="warn" role="status" title={t("seed.wrong_title")}>
          {t("seed.wrong_body")}
        </Notice>
      );
    case "unknown":
      return (
        <Notice
          tone="warn"
          role="status"
          title={t("seed.unknown_title", { count: check.unknownWords.length, language })}
        >
          {t("seed.unknown_body", { words: [...new Set(check.unknownWords)].slice(0, 6).join(", ") })}
        </Notice>
      );
    case "short":
      return (
        <SmallText role="status">
          {seedLengths.some((length) => length === check.wordCount)
            ? t("seed.unfinished_status")
            : t("seed.short_status", { count: check.wordCount, lengths: seedLengths.join(", ") })}
        </SmallText>
      );
    default:
      return check.verdict satisfies never;
  }
}

const Words = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(2)};
  min-height: 44px;
  & > button {
    font-family: ${s("fontMono")};
    font-weight: 500;
  }
`;

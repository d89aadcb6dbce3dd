import { TextArea } from "@relicario/shared/forms";
import { Button, Notice, s, SmallText, space, Stack } from "@relicario/shared/ui";
import { useRef, useState, type Ref } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { completions, seedLengths } from "./check-seed.ts";
import { useSeedCheck, type SeedStanding } from "./useSeedCheck.ts";

interface SeedFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur: () => void;
  readonly error: string | null;
  readonly disabled: boolean;
  readonly fieldRef: Ref<HTMLTextAreaElement>;
}

/** A seed phrase: its words are looked up and suggested on this device, and nothing of it is changed or refused. */
export function SeedField({ value, onChange, onBlur, error, disabled, fieldRef }: SeedFieldProps) {
  const { t } = useTranslation("beta-add-secret");
  const standing = useSeedCheck(value);
  const area = useRef<HTMLTextAreaElement | null>(null);
  const [caret, setCaret] = useState(0);
  const beginning = /\S+$/u.exec(value.slice(0, caret))?.[0] ?? "";
  const atEndOfWord = !/^\S/u.test(value.slice(caret));
  const suggested = standing.status === "checked" && atEndOfWord ? completions(beginning, standing.list) : [];

  const take = (word: string) => {
    const before = `${value.slice(0, caret - beginning.length)}${word} `;
    onChange(`${before}${value.slice(caret).trimStart()}`);
    setCaret(before.length);
    // The caret goes behind the word once React has put it there.
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(before.length, before.length);
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
        <Words role="group" aria-label={t("seed.suggestions_aria")}>
          {suggested.map((word) => (
            <Button
              key={word}
              tone="quiet"
              size="small"
              onClick={() => {
                take(word);
              }}
            >
              {word}
            </Button>
          ))}
        </Words>
      )}
      <SeedJudgement standing={standing} />
    </Stack>
  );
}

function SeedJudgement({ standing }: { readonly standing: SeedStanding }) {
  const { t } = useTranslation("beta-add-secret");
  if (standing.status === "empty" || standing.status === "checking") return null;
  if (standing.status === "unchecked") return <SmallText role="status">{t("seed.unchecked_status")}</SmallText>;
  const { check } = standing;
  const language = t(`seed.language_${check.language}_label`);
  switch (check.checksum) {
    case "fits":
      return (
        <Notice tone="success" role="status">
          {t("seed.fits_status", { count: check.count, language })}
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
        <Notice tone="warn" role="status" title={t("seed.unknown_title", { count: check.unknown.length, language })}>
          {t("seed.unknown_body", { words: [...new Set(check.unknown)].slice(0, 6).join(", ") })}
        </Notice>
      );
    case "short":
      return <SmallText role="status">{t("seed.short_status", { count: check.count, lengths: seedLengths.join(", ") })}</SmallText>;
    default:
      return check.checksum satisfies never;
  }
}

const Words = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(2)};
  min-height: 44px;
  & > button { font-family: ${s("fontMono")}; font-weight: 500; }
`;

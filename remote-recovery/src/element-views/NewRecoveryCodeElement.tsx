import type { RecoveryCode } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { TextField } from "@relicario/shared/forms";
import { Button, ErrorNotice, Muted, Notice, Skeleton, SpacedRow, Stack } from "@relicario/shared/ui";
import type { ElementVault } from "@relicario/vault/element";
import { Printer } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { GuardedButton } from "../openers/GuardedButton.tsx";
import type { RecoveryCodeSheet } from "../openers/RecoveryCodeSheet.tsx";
import { WordList } from "../openers/WordList.tsx";
import { emptyInput, type ElementInput } from "./element-input.ts";

interface NewRecoveryCodeElementProps {
  readonly disabled: boolean;
  readonly vault: Pick<ElementVault, "generateRecoveryCode">;
  readonly onInput: (input: ElementInput) => void;
  readonly onCancel: () => void;
}

type Step = "write" | "prove" | "proved";

/** Shows a new recovery code once, then asks for two of its words. */
export function NewRecoveryCodeElement({ disabled, vault, onInput, onCancel }: NewRecoveryCodeElementProps) {
  const { t } = useTranslation("openers");
  const [code, setCode] = useState<RecoveryCode | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [step, setStep] = useState<Step>("write");
  const [shownAgain, setShownAgain] = useState(false);
  /** Fetched when it is printed; null when nothing is. */
  const [Sheet, setSheet] = useState<typeof RecoveryCodeSheet | null>(null);
  useEffect(() => {
    let active = true;
    vault.generateRecoveryCode().then(
      (newCode) => {
        if (active) setCode(newCode);
      },
      (thrown: unknown) => {
        if (active) setError(thrown);
      },
    );
    return () => {
      active = false;
    };
  }, [vault]);
  const handlePrint = async () => {
    setError(null);
    try {
      const sheetModule = await import("../openers/RecoveryCodeSheet.tsx");
      setSheet(() => sheetModule.RecoveryCodeSheet);
    } catch (cause) {
      setError(new PortalError("remote_unreachable", { cause }));
    }
  };
  if (code === null) return error === null ? <Skeleton height="320px" /> : <ErrorNotice error={error} />;
  if (step === "proved")
    return (
      <Notice tone="success" role="status">
        {t("code.proved_status")}
      </Notice>
    );
  if (step === "prove")
    return (
      <Stack $gap={4}>
        <VerifyWords
          words={code.words}
          onVerified={() => {
            setStep("proved");
            onInput({
              ...emptyInput,
              input: { opener: { kind: "recovery_code", code: code.words.join(" ") }, draft: null },
              ready: true,
              kind: "recovery_code",
              problem: null,
            });
          }}
          onBack={() => {
            setStep("write");
            setShownAgain(true);
          }}
        />
      </Stack>
    );
  return (
    <Stack $gap={4}>
      <Muted ref={shownAgain ? focusOnMount : null} tabIndex={-1}>
        {t("code.make_body")}
      </Muted>
      <Notice tone="warn">{t("code.once_body")}</Notice>
      <WordList words={code.words} label={t("code.words_aria")} />
      <SpacedRow>
        <GuardedButton tone="quiet" icon={<Printer aria-hidden />} onClick={() => void handlePrint()}>
          {t("code.print_action")}
        </GuardedButton>
        <GuardedButton
          disabled={disabled}
          onClick={() => {
            setStep("prove");
          }}
        >
          {t("code.kept_action")}
        </GuardedButton>
        <Button tone="quiet" onClick={onCancel}>
          {t("show.cancel_action")}
        </Button>
      </SpacedRow>
      <ErrorNotice error={error} />
      {Sheet !== null && (
        <Sheet
          code={code}
          onEnd={() => {
            setSheet(null);
          }}
        />
      )}
    </Stack>
  );
}

interface VerifyWordsProps {
  readonly words: readonly string[];
  readonly onVerified: () => void;
  readonly onBack: () => void;
}

/** Asks for one word of each half, to prove that the code was written down. */
function VerifyWords({ words, onVerified, onBack }: VerifyWordsProps) {
  const { t } = useTranslation("openers");
  const [positions] = useState(() => pickTwoPositions(words.length));
  const [answers, setAnswers] = useState<readonly string[]>(["", ""]);
  const [mistakes, setMistakes] = useState<readonly boolean[]>([false, false]);
  const handleVerify = () => {
    const results = positions.map((position, index) => answers[index]?.trim().toLowerCase() !== words[position]);
    setMistakes(results);
    if (!results.includes(true)) onVerified();
  };
  return (
    <>
      <Muted ref={focusOnMount} tabIndex={-1}>
        {t("code.prove_body")}
      </Muted>
      {positions.map((position, index) => (
        <TextField
          key={position}
          label={t("code.word_label", { number: position + 1 })}
          error={mistakes[index] === true ? t("code.word_error") : null}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={answers[index] ?? ""}
          onChange={(event) => {
            setAnswers(answers.map((answer, answerIndex) => (answerIndex === index ? event.target.value : answer)));
          }}
        />
      ))}
      <SpacedRow>
        <Button onClick={handleVerify}>{t("code.prove_action")}</Button>
        <Button tone="quiet" onClick={onBack}>
          {t("code.again_action")}
        </Button>
      </SpacedRow>
    </>
  );
}

function pickTwoPositions(count: number): readonly number[] {
  const half = count / 2;
  const [firstRandom = 0, secondRandom = 0] = crypto.getRandomValues(new Uint8Array(2));
  return [firstRandom % half, half + (secondRandom % half)];
}

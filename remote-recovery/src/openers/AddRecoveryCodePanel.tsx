import { usePortal, type RecoveryCode, type Vault } from "@relicario/shared/contract";
import { TextField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Notice,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { presentKey } from "@relicario/vault/presented-opener";
import { Printer } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { AddStep } from "./AddStep.tsx";
import { RecoveryCodeSheet } from "./RecoveryCodeSheet.tsx";
import { WordList } from "./WordList.tsx";

interface AddRecoveryCodePanelProps {
  readonly vault: Vault;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

/**
 * Shows a new recovery code once, asks for two of its words, and adds it. Until then it opens
 * nothing.
 */
export function AddRecoveryCodePanel({ vault, onAdded, onCancel }: AddRecoveryCodePanelProps) {
  const { t } = useTranslation("openers");
  const { onLock } = usePortal();
  const [code, setCode] = useState<RecoveryCode | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [step, setStep] = useState<"write" | "prove" | "add">("write");
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    let active = true;
    vault.openers.generateRecoveryCode().then(
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
  useEffect(
    () =>
      onLock(() => {
        setCode(null);
      }),
    [onLock],
  );
  return (
    <Card aria-labelledby="code-maker">
      <Stack $gap={4}>
        <SectionTitle key={step} ref={focusOnMount} tabIndex={-1} id="code-maker">
          {t("code.make_title")}
        </SectionTitle>
        <ErrorNotice error={error} />
        {code === null && error === null && <Skeleton height="320px" />}
        {code !== null && step === "write" && (
          <>
            <Muted>{t("code.make_body")}</Muted>
            <Notice tone="warn">{t("code.once_body")}</Notice>
            <WordList words={code.words} label={t("code.words_aria")} />
            <SpacedRow>
              <Button
                tone="quiet"
                icon={<Printer aria-hidden />}
                onClick={() => {
                  setPrinting(true);
                }}
              >
                {t("code.print_action")}
              </Button>
              <Button
                onClick={() => {
                  setStep("prove");
                }}
              >
                {t("code.kept_action")}
              </Button>
              <Button tone="quiet" onClick={onCancel}>
                {t("show.cancel_action")}
              </Button>
            </SpacedRow>
            {printing && (
              <RecoveryCodeSheet
                code={code}
                onEnd={() => {
                  setPrinting(false);
                }}
              />
            )}
          </>
        )}
        {code !== null && step === "prove" && (
          <VerifyWords
            words={code.words}
            onVerified={() => {
              setStep("add");
            }}
            onBack={() => {
              setStep("write");
            }}
          />
        )}
        {code !== null && step === "add" && (
          <AddStep
            vault={vault}
            createHandle={() => Promise.resolve(presentKey({ kind: "recovery_code", code: code.words.join(" ") }))}
            initialName={t("code.name_body")}
            label={t("code.add_action")}
            onAdded={onAdded}
            onCancel={onCancel}
          />
        )}
      </Stack>
    </Card>
  );
}

interface VerifyWordsProps {
  readonly words: readonly string[];
  readonly onVerified: () => void;
  readonly onBack: () => void;
}

/** Two words, each of another half, typed back from the paper. */
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
      <Muted>{t("code.prove_body")}</Muted>
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

import { columnRoles, type ColumnRole, type ImportQuestion, type ImportReadOptions } from "@relicario/shared/contract";
import { Checkbox, ChoiceGroup, FieldError, PasswordField, SelectField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  markVerbatim,
  Muted,
  renderVerbatim,
  SectionTitle,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

/** Answers of the person to the questions about a file. */
export type ImportAnswers = Pick<ImportReadOptions, "encoding" | "columns" | "isFirstRowEntry" | "password">;

interface ImportQuestionsProps {
  readonly question: ImportQuestion;
  readonly pending: boolean;
  readonly onAnswer: (answers: ImportAnswers) => void;
  readonly onCancel: () => void;
}

/** Asks for facts that the file does not contain, before it is read. */
export function ImportQuestions({ question, ...props }: ImportQuestionsProps) {
  switch (question.status) {
    case "encoding_needed":
      return <EncodingQuestion encodings={question.encodings} {...props} />;
    case "columns_needed":
      return <ColumnsQuestion key={String(question.isFirstRowEntry)} question={question} {...props} />;
    case "password_needed":
    case "password_wrong":
      return <PasswordQuestion isWrong={question.status === "password_wrong"} {...props} />;
  }
}

type AnswerProps = Omit<ImportQuestionsProps, "question">;
type ColumnsNeeded = Extract<ImportQuestion, { status: "columns_needed" }>;

/**
 * Asks with samples of the values, because people recognise their own values but not the name of an
 * encoding.
 */
function EncodingQuestion({
  encodings,
  onAnswer,
  ...props
}: AnswerProps & { readonly encodings: Extract<ImportQuestion, { status: "encoding_needed" }>["encodings"] }) {
  const { t } = useTranslation("settings-data");
  const [encoding, setEncoding] = useState<string | null>(null);
  const [isSubmitted, setIsSubmitted] = useState(false);
  const handleContinue = () => {
    setIsSubmitted(true);
    if (encoding !== null) onAnswer({ encoding });
  };
  return (
    <QuestionCard
      title={t("question.encoding_title")}
      body={t("question.encoding_body")}
      onContinue={handleContinue}
      {...props}
    >
      <ChoiceGroup
        legend={t("question.encoding_legend")}
        name="encoding"
        choices={encodings.map((candidate) => ({
          value: candidate.encoding,
          label: candidate.samples.join(" · "),
          hint: candidate.encoding,
        }))}
        value={encoding}
        onChange={setEncoding}
        disabled={props.pending}
      />
      {isSubmitted && encoding === null && <FieldError>{t("question.encoding_error")}</FieldError>}
    </QuestionCard>
  );
}

function ColumnsQuestion({ question, onAnswer, ...props }: AnswerProps & { readonly question: ColumnsNeeded }) {
  const { t } = useTranslation("settings-data");
  const { columns, isFirstRowEntry } = question;
  const [roles, setRoles] = useState<readonly ColumnRole[]>(() => columns.map(({ role }) => role));
  const choices = columnRoles.map((role) => ({ value: role, label: t(`role.${role}`) }));
  return (
    <QuestionCard
      title={t("question.columns_title")}
      body={t("question.columns_body")}
      onContinue={() => {
        onAnswer({ columns: roles, isFirstRowEntry });
      }}
      {...props}
    >
      <Checkbox
        label={t("question.first_row_label")}
        checked={isFirstRowEntry}
        disabled={props.pending}
        onChange={(event) => {
          onAnswer({ isFirstRowEntry: event.target.checked });
        }}
      />
      {columns.map(({ name, samples }, index) => (
        <SelectField
          key={index}
          label={renderVerbatim(
            t("question.column_label", { name: markVerbatim(name === "" ? String(index + 1) : name) }),
          )}
          hint={
            samples.length === 0
              ? t("question.no_samples_hint")
              : t("question.samples_hint", { samples: samples.join(" · ") })
          }
          choices={choices}
          value={roles[index] ?? "field"}
          disabled={props.pending}
          onChange={(value) => {
            setRoles(
              roles.map((role, at) => (at === index ? (columnRoles.find((known) => known === value) ?? role) : role)),
            );
          }}
        />
      ))}
    </QuestionCard>
  );
}

function PasswordQuestion({ isWrong, onAnswer, ...props }: AnswerProps & { readonly isWrong: boolean }) {
  const { t } = useTranslation("settings-data");
  const [password, setPassword] = useState("");
  return (
    <QuestionCard
      title={t("question.password_title")}
      onContinue={() => {
        onAnswer({ password });
      }}
      {...props}
    >
      <PasswordField
        label={t("question.password_label")}
        hint={t("question.password_hint")}
        error={isWrong ? t("question.password_error") : null}
        autoComplete="off"
        value={password}
        disabled={props.pending}
        onChange={(event) => {
          setPassword(event.target.value);
        }}
      />
    </QuestionCard>
  );
}

function QuestionCard({
  title,
  body,
  pending,
  onContinue,
  onCancel,
  children,
}: Omit<AnswerProps, "onAnswer"> & {
  readonly title: string;
  readonly body?: string;
  readonly onContinue: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useTranslation("settings-data");
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus();
  }, []);
  return (
    <Card>
      <Stack $gap={4}>
        <SectionTitle ref={titleRef} tabIndex={-1}>
          {title}
        </SectionTitle>
        {body !== undefined && <Muted>{body}</Muted>}
        {children}
        <SpacedRow>
          <Button pending={pending} onClick={onContinue}>
            {t("question.continue_action")}
          </Button>
          <Button tone="quiet" onClick={onCancel}>
            {t("review.cancel_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

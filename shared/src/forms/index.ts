/** Form controls, and buttons to copy, print and save. The host loads them in a separate script. */
export {
  OpenerPrompt,
  KeptOpenNote,
  RequestedOpener,
  type OpenerPromptProps,
  type RequestedOpenerProps,
} from "./operation/OpenerPrompt.tsx";
export { runUnlocked } from "./operation/run-unlocked.ts";
export { OperationProgress, type OperationProgressProps, type PhaseTexts } from "./operation/OperationProgress.tsx";
export {
  useVaultOperation,
  type OperationOptions,
  type OperationPlan,
  type VaultOperation,
  type VaultOperationSettings,
} from "./operation/useVaultOperation.ts";
export {
  Checkbox,
  ChoiceGroup,
  Switch,
  type CheckboxProps,
  type Choice,
  type ChoiceGroupProps,
  type SwitchProps,
} from "./choices.tsx";
export { clearClipboardLater, clipboardClearMilliseconds } from "./clipboard.ts";
export { CopyButton, type CopyButtonProps } from "./CopyButton.tsx";
export { DeviceQuestion, type DeviceQuestionProps } from "./DeviceQuestion.tsx";
export { Field, FieldError, Hint, Label, type ControlAttributes, type CommonFieldProps } from "./Field.tsx";
export {
  PasswordField,
  SecretTextArea,
  TextArea,
  TextField,
  type PasswordFieldProps,
  type TextAreaProps,
  type TextFieldProps,
} from "./inputs.tsx";
export {
  toContentInput,
  findContentProblem,
  getDraftText,
  contentProblems,
  maxImageNameLength,
  maxTextBytes,
  suggestTitle,
  type ContentDraft,
  type ContentProblem,
} from "./content/content-draft.ts";
export { FileField, type FileFieldProps } from "./content/FileField.tsx";
export { KindChoice, type KindChoiceProps } from "./content/KindChoice.tsx";
export { FilterBox, FilterFields, ListToolbar, type ListToolbarProps } from "./ListToolbar.tsx";
export { NumberedWords, useNumberedWords, type NumberedWordsProps } from "./words/NumberedWords.tsx";
export { toEnglishWords } from "./words/numbered-words.ts";
export { PrintButton, type PrintButtonProps } from "./PrintButton.tsx";
export {
  findRecordProblem,
  formatContentText,
  parseRecordDraft,
  stringifyRecordDraft,
  type RecordDraftField,
} from "./record/record-draft.ts";
export { RecordEditor, type RecordEditorProps } from "./record/RecordEditor.tsx";
export { PrintSheet, type PrintSheetProps } from "./PrintSheet.tsx";
export { saveFile } from "./save-file.ts";
export { SeedField, type SeedFieldProps } from "./seed/SeedField.tsx";
export { loadWordList, portalWordLists } from "./seed/word-lists.ts";
export { SelectField, type SelectFieldProps } from "./SelectField.tsx";
export { ProposedPassphrase } from "./strength/ProposedPassphrase.tsx";
export { StrengthMeter, useStrength, type Strength, type StrengthMeterProps } from "./strength/StrengthMeter.tsx";
export { VerbatimOutput } from "./strength/VerbatimOutput.tsx";
export { Stepper, type StepperProps } from "./Stepper.tsx";
export { TagField, type TagFieldProps } from "./TagField.tsx";

;;; smoke-lsp-mode.el --- A session in a real Emacs with lsp-mode -*- lexical-binding: t; -*-

;; cargo xtask test emacs
;;
;; As smoke.el, which has eglot.

;;; Code:

(require 'python)
(require 'lsp-mode)
(load (expand-file-name "tilefit.el" (file-name-directory load-file-name)))
(load (expand-file-name "smoke-tap.el" (file-name-directory load-file-name)))

(defun smoke-messages ()
  "The messages of the diagnostics of all files."
  (let (all)
    (maphash (lambda (_ found) (setq all (append (mapcar (lambda (each) (lsp-get each :message)) found) all))) (lsp-diagnostics))
    all))

(defun smoke-session ()
  "Look at a kernel, and edit it."
  (let* ((example (getenv "TILEFIT_EXAMPLE"))
         (folder (file-name-directory example)))
    (setq tilefit-server-command (list (getenv "TILEFIT_SERVER") "server")
          lsp-session-file (expand-file-name ".lsp-session" folder)
          lsp-auto-guess-root t
          lsp-restart 'ignore
          lsp-diagnostics-provider :flymake
          lsp-enable-file-watchers nil
          lsp-enable-snippet nil
          lsp-lens-enable nil
          lsp-headerline-breadcrumb-enable nil
          lsp-modeline-code-actions-enable nil
          lsp-modeline-diagnostics-enable nil)
    (find-file example)
    (python-mode)
    (lsp-workspace-folders-add folder)
    (lsp)
    (smoke-ok (smoke-eventually (lambda () (seq-find (lambda (text) (string-match-p "188416" text)) (smoke-messages))))
              "the overflow is reported" (smoke-messages))
    (goto-char (point-min))
    (search-forward "value = pl.load")
    (goto-char (match-beginning 0))
    (let ((hover (json-encode (lsp-request "textDocument/hover" (lsp--text-document-position-params)))))
      (smoke-ok (string-match-p "0x0" hover) "hover tells the address" hover))
    (tilefit-memory-map)
    (with-current-buffer "*tilefit map*"
      (smoke-ok (string-match-p "8 KiB over" (buffer-string)) "the memory map is shown" (buffer-string)))
    (tilefit-generated-code)
    (with-current-buffer "*tilefit C++*"
      (smoke-ok (string-match-p "TLOAD" (buffer-string)) "the C++ is shown" (buffer-string)))
    (goto-char (point-min))
    (search-forward "64, 256")
    (replace-match "64, 192" t t)
    (smoke-ok (smoke-eventually (lambda () (null (smoke-messages)))) "a smaller number clears the error" (smoke-messages))
    (set-buffer-modified-p nil)))

(smoke-run #'smoke-session)
;;; smoke-lsp-mode.el ends here
